import { type FastifyBaseLogger } from 'fastify'
import { Deadline } from './deadline.ts'
import { type Settings } from '../options.ts'
import { type Store } from './store.ts'
import { GuardedStore, timed } from './guard.ts'
import { memoryStore } from './memory.ts'

/** The store of one registration, from its options. */
export interface OpenStore {
  store: Store
  /** Waits for the store, storeTimeout at most, and makes sure that it can do what is asked of it. */
  start (): Promise<void>
  /** Whether it can just now. Takes storeTimeout at most. */
  isReady (): Promise<boolean>
  /** Lets go of what was opened here. */
  close (): void
}

/** Opens the store that the options name. */
export async function openStore (settings: Settings, log: FastifyBaseLogger): Promise<OpenStore> {
  const deadline = new Deadline(settings.storeTimeout)
  const guard = (store: Store): GuardedStore => new GuardedStore(store, (available, cause) => {
    if (available) log.info('partner-sso: the store is available again')
    else log.error({ cause }, 'partner-sso: the store is unavailable; until it is back no sign-in succeeds')
  })
  const opened = (store: GuardedStore, wait: () => Promise<void> = async () => {}, close = () => {}): OpenStore => ({
    store,
    async start () {
      await wait()
      await store.probe().catch(refuseUnfit)
    },
    isReady: once(() => deadline.within(() => store.probe()).then(() => true, () => false)),
    close () {
      close()
      deadline.close()
    }
  })

  if (settings.redis !== undefined) {
    // Loaded when it is needed: an app without Redis does not pay for the client.
    const { openConnection, redisStore, whenReady } = await import('./redis.ts')
    const onRefused = (cause: string) => log.error({ cause }, 'partner-sso: Redis refuses the user or password')
    const connection = openConnection(settings.redis, settings.storeTimeout, onRefused)
    const store = guard(redisStore(connection.client, settings.keyPrefix, deadline, connection))
    return opened(store, () => whenReady(connection.client, settings.storeTimeout), connection.close)
  }
  if (settings.store !== undefined) return opened(guard(timed(settings.store, deadline)))
  log.warn('partner-sso: no redis and no store is given: codes and tokens live in this process, which serves an app of one process only')
  const memory = memoryStore(settings.memoryLimit)
  return opened(guard(memory), undefined, memory.close)
}

/** A store that is down may come back; one that refuses what is needed never serves a sign-in. */
function refuseUnfit ({ cause }: Error): void {
  if (/unknown command|NOPERM/.test(String(cause))) {
    throw new Error(`partner-sso: Redis refuses a command that is needed (SET, GETDEL; Redis 6.2 or later, not renamed, allowed to this user): ${String(cause)}`)
  }
}

/** One call at a time: who calls meanwhile gets the same answer, so that a readiness route does not multiply the load. */
function once<T> (call: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => {
    pending ??= call().finally(() => { pending = undefined })
    return pending
  }
}
