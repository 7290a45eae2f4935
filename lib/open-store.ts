import { type FastifyBaseLogger } from 'fastify'
import { Deadline } from './deadline.ts'
import { type Settings } from './options.ts'
import { randomSecret } from './sealing.ts'
import { type Store } from './store.ts'
import { GuardedStore, timed } from './stores/guard.ts'
import { memoryStore } from './stores/memory.ts'

/** The store of one registration, from its options. */
export interface OpenStore {
  store: GuardedStore
  /** Waits for the store, storeTimeout at most, and makes sure that it can do what is asked of it. */
  start (): Promise<void>
  /** Lets go of what was opened here. */
  close (): Promise<void> | void
}

/** Opens the store that the options name. */
export async function openStore (settings: Settings, log: FastifyBaseLogger): Promise<OpenStore> {
  const guard = (store: Store): GuardedStore => new GuardedStore(store, (available, cause) => {
    if (available) log.info('partner-sso: the store is available again')
    else log.error({ cause }, 'partner-sso: the store is unavailable; sign-ins are answered with temporarily_unavailable')
  })
  const deadline = new Deadline(settings.storeTimeout)
  if (settings.redis !== undefined) return await openRedis(settings, deadline, guard)
  if (settings.store !== undefined) {
    const store = guard(timed(settings.store, deadline))
    return { store, start: () => probe(store), close () {} }
  }
  log.warn('partner-sso: no redis and no store is given: codes and tokens live in this process, which serves an app of one process only')
  const memory = memoryStore(settings.memoryLimit)
  return { store: guard(memory), async start () {}, close: () => memory.close() }
}

async function openRedis (settings: Settings, deadline: Deadline, guard: (store: Store) => GuardedStore): Promise<OpenStore> {
  // Loaded when it is needed: an app without Redis does not pay for the client.
  const { acquire, redisStore, whenReady } = await import('./stores/redis.ts')
  const { client, release } = acquire(settings.redis as NonNullable<Settings['redis']>)
  const store = guard(redisStore(client, settings.keyPrefix, deadline))
  return {
    store,
    async start () {
      await whenReady(client, settings.storeTimeout)
      await probe(store)
    },
    close: release
  }
}

/** Stores and takes something, so that a store that cannot serve is found at the start. One that is down may come back. */
async function probe (store: GuardedStore): Promise<void> {
  try {
    const key = `probe-${randomSecret()}`
    await store.put(key, 'probe', 1)
    await store.take(key)
  } catch (error) {
    const cause = String((error as Error).cause)
    if (/unknown command|NOPERM/.test(cause)) {
      throw new Error(`partner-sso: Redis refuses a command that is needed (SET, GETDEL; Redis 6.2 or later, not renamed, allowed to this user): ${cause}`)
    }
  }
}
