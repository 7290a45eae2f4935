import type { FastifyBaseLogger } from 'fastify'
import { GuardedStore, TimeLimitedStore } from './guard.ts'
import type { BackingStore } from './guard.ts'
import { MemoryStore } from './memory.ts'
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
  return new GuardedStore(await open(options, warn), options.storeTimeout, log)
}

async function open (
  { redis, store, keyPrefix, memoryLimit, storeTimeout }: StoreOptions, warn: (message: string) => void
): Promise<BackingStore> {
  if (redis !== undefined) {
    // Loaded when it is needed: an app without Redis does not pay for the client.
    const { RedisStore } = await import('./redis.ts')
    return new RedisStore(redis, keyPrefix, storeTimeout)
  }
  if (store === undefined) warn(IN_PROCESS)
  return store === undefined || store === 'memory' ? new MemoryStore(memoryLimit) : new TimeLimitedStore(store)
}

const IN_PROCESS = 'partner-sso: neither redis nor store is given: codes and tokens are kept in the memory of this ' +
  'process. They are lost when it ends, and where there are several processes, sign-ins fail. Set redis or store; ' +
  "where this is intended, set store to 'memory'."
