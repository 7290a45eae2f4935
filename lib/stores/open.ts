import cluster from 'node:cluster'
import { type FastifyBaseLogger } from 'fastify'
import { type RedisOptions } from 'ioredis'
import { describe, GuardedStore, timed } from './guard.ts'
import { memoryStore } from './memory.ts'
import { type RedisClient } from './redis-client.ts'
import { type Store, type TimedStore } from './store.ts'

/** The options of the plugin that decide on the store. */
export interface StoreOptions {
  redis?: string | RedisOptions | RedisClient | undefined
  store?: Store | undefined
  keyPrefix: string
  memoryLimit: number
  storeTimeout: number
}

/** Where it is said what happens to the store. */
export interface StoreReports {
  log: FastifyBaseLogger
  /** A warning at start: it must be seen also where the host's logger is off. */
  warn (message: string): void
}

/** The store of one registration. */
export interface OpenStore {
  store: TimedStore
  /** Waits for the store. Rejects when it can never serve a sign-in; one that is down does not hinder the start. */
  start (): Promise<void>
  /** Whether the store can serve sign-ins now. Takes storeTimeout at most. */
  isReady (): Promise<boolean>
  /** Releases what was opened here. */
  close (): void
}

/** A store, and what is needed around it. */
interface Opened {
  store: TimedStore
  /** Waits until the store is connected, until the deadline of the first call at most. */
  connected? (deadline: number): Promise<void>
  close? (): void
}

/** Milliseconds of each half of the start. Fastify allows ten seconds for all of it (`pluginTimeout`). */
const START_TIMEOUT = 4000

/** Opens the store that the options name. */
export async function openStore (options: StoreOptions, { log, warn }: StoreReports): Promise<OpenStore> {
  const { store, connected = async () => {}, close = () => {} } = await open(options, { log, warn })
  const guarded = new GuardedStore(store, (available, cause) => {
    // Both at one level: whoever sees that the store is lost sees also that it is back.
    if (available) log.error('partner-sso: the store is available again')
    else log.error({ cause }, 'partner-sso: the store is unavailable; until it is back no sign-in succeeds')
  })
  const { storeTimeout } = options
  const deadline = (limit: number): number => performance.now() + Math.min(storeTimeout, limit)
  return {
    store: guarded,
    async start () {
      await connected(deadline(START_TIMEOUT))
      await guarded.probeAll(deadline(START_TIMEOUT)).catch(() => { refuseUnfit(guarded.failure) })
    },
    isReady: oneAtATime(async () => {
      const until = deadline(Infinity)
      await connected(until)
      return await guarded.probe(until).then(() => true, () => false)
    }),
    close
  }
}

async function open (options: StoreOptions, { log, warn }: StoreReports): Promise<Opened> {
  const { redis, store, keyPrefix, memoryLimit, storeTimeout } = options
  if (redis !== undefined) {
    // Loaded when it is needed: an app without Redis does not pay for the client.
    const { openRedis } = await import('./redis.ts')
    const onRefused = (cause: string): void => log.error({ cause }, 'partner-sso: Redis refuses the user or password')
    return openRedis(redis, { keyPrefix, storeTimeout, onRefused })
  }
  if (store !== undefined) return { store: timed(store) }
  warn(IN_PROCESS + (mayBeOneOfSeveral() ? MAY_BE_SEVERAL : ''))
  const memory = memoryStore(memoryLimit)
  return { store: memory, close: memory.close }
}

const IN_PROCESS = 'partner-sso: neither redis nor store is given: codes and tokens are kept in the memory of this ' +
  'process. They are lost when it ends, and the portal must reach this very process with every request.'
const MAY_BE_SEVERAL = ' This process may be one of several (a cluster worker, or started by PM2): they do not share ' +
  'codes and tokens, and sign-ins would fail. Set redis or store.'

/** Whether a process manager has started several processes of this app, or may do so. */
function mayBeOneOfSeveral (): boolean {
  return cluster.isWorker || process.env.NODE_APP_INSTANCE !== undefined || process.env.pm_id !== undefined
}

// Errors that Redis answers with while it is in some state. Any other one says something about the command.
const TEMPORARY = new RegExp('^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|OOM|BUSY|MISCONF|' +
  'NOREPLICAS|NOAUTH|WRONGPASS|ERR max number of clients)\\b')

/** A store that is down may come back. A server that refuses a command for good never serves a sign-in. */
function refuseUnfit (failure: unknown): void {
  if (!(failure instanceof Error) || failure.name !== 'ReplyError' || TEMPORARY.test(failure.message)) return
  throw new Error('partner-sso: Redis refuses a command that is needed: SET with EX and NX, SET with EX and GET, ' +
    `GETDEL (Redis 6.2 or later, not renamed, allowed to this user): ${describe(failure)}`)
}

/** One call at a time. Callers meanwhile get the same answer: a readiness route does not multiply the load. */
function oneAtATime<T> (call: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => {
    pending ??= call().finally(() => { pending = undefined })
    return pending
  }
}
