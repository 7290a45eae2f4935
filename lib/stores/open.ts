import type { FastifyBaseLogger } from 'fastify'
import { guardStore, withDeadlines } from './guard.ts'
import type { BackingStore, GuardedStore } from './guard.ts'
import { memoryStore } from './memory.ts'
import type { RedisOption } from './redis-client.ts'
import type { Store } from './store.ts'

/** The options of the plugin that decide on the store. */
export interface StoreOptions {
  redis?: RedisOption | undefined
  store?: Store | 'memory' | undefined
  keyPrefix: string
  memoryLimit: number
  storeTimeout: number
}

/** Opens the store that the options name. `warn` reaches the host also when its logger is off. */
export async function openStore (
  options: StoreOptions, log: FastifyBaseLogger, warn: (message: string) => void
): Promise<GuardedStore> {
  return guardStore(await open(options, warn), options.storeTimeout, log)
}

async function open (
  { redis, store, keyPrefix, memoryLimit, storeTimeout }: StoreOptions, warn: (message: string) => void
): Promise<BackingStore> {
  if (redis !== undefined) {
    // Loaded when it is needed: an app without Redis does not pay for the client.
    const { redisStore } = await import('./redis.ts')
    return redisStore(redis, keyPrefix, storeTimeout)
  }
  if (store === undefined) warn(IN_PROCESS)
  return store === undefined || store === 'memory' ? memoryStore(memoryLimit) : withDeadlines(store)
}

const IN_PROCESS = 'partner-sso: neither redis nor store is given: codes and tokens are kept in the memory of this ' +
  'process. They are lost when it ends, and where there are several processes, sign-ins fail. Set redis or store; ' +
  "where this is intended, set store to 'memory'."
