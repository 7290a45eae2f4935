import cluster from 'node:cluster'
import type { FastifyBaseLogger } from 'fastify'
import type { RedisOptions } from 'ioredis'
import { GuardedStore, timed } from './guard.ts'
import type { BackingStore } from './guard.ts'
import { MemoryStore } from './memory.ts'
import type { RedisClient } from './redis-client.ts'
import type { Store } from './store.ts'

/** The options of the plugin that decide on the store. */
export interface StoreOptions {
  redis?: string | RedisOptions | RedisClient | undefined
  store?: Store | undefined
  keyPrefix: string
  memoryLimit: number
  storeTimeout: number
}

/**
 * Opens the store that the options name. `warn` tells the host something at start, also where its logger is off.
 */
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
  if (store !== undefined) return timed(store)
  // A cluster worker, or started by PM2
  const { NODE_APP_INSTANCE, pm_id: pm2 } = process.env
  const mayBeSeveral = cluster.isWorker || NODE_APP_INSTANCE !== undefined || pm2 !== undefined
  warn(IN_PROCESS + (mayBeSeveral ? MAY_BE_SEVERAL : ''))
  return new MemoryStore(memoryLimit)
}

const IN_PROCESS = 'partner-sso: neither redis nor store is given: codes and tokens are kept in the memory of this ' +
  'process. They are lost when it ends, and the portal must reach this very process with every request.'
const MAY_BE_SEVERAL = ' This process may be one of several (a cluster worker, or started by PM2): they do not share ' +
  'codes and tokens, and sign-ins would fail. Set redis or store.'
