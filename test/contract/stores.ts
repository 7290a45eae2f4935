// The three kinds of store, each with functions that read and write it past the app.
import type { PartnerSsoOptions, Store } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { clock } from '../helpers/shifted-clocks.ts'

/** Seconds that an operation of the slow store takes by the clock. */
const SLOW_STORE_TAKES = 4

export interface StoreAccess {
  /** The options of an app that uses the store. */
  options: Pick<PartnerSsoOptions, 'redis' | 'store' | 'keyPrefix'>
  /** The values that it holds by key: neither revocations nor probes. */
  read (): Promise<Map<string, string>>
  /** Puts a value under the key, in place of what it holds. A revocation stays. */
  write (key: string, value: string): Promise<void>
  /** Lets time pass for what it holds. */
  pass (seconds: number): Promise<void>
  /** The operations since the last call, where they can be counted. */
  operations (): string[]
  /** Called with each value that is taken, before the app gets it. */
  onTaken: (() => Promise<unknown>) | undefined
}

const LONG = 600

/** A store of the app's own process, watched. `takes` seconds go by in each operation. */
function watched (store: Store, takes: number): StoreAccess {
  const values = new Map<string, string>()
  const operations: string[] = []
  const done = (name: string): void => {
    operations.push(name)
    clock.pass(takes)
  }
  const access: StoreAccess = {
    options: {
      store: {
        async put (key, value, lifetime) {
          done('put')
          const isPut = await store.put(key, value, lifetime)
          if (isPut && value !== 'probe') values.set(key, value)
          return isPut
        },
        async take (key) {
          done('take')
          const value = await store.take(key)
          values.delete(key)
          if (value !== null) await access.onTaken?.()
          return value
        },
        async revoke (key, lifetime) {
          done('revoke')
          values.delete(key)
          return await store.revoke(key, lifetime)
        }
      }
    },
    async read () { return new Map(values) },
    async write (key, value) {
      await store.take(key)
      if (await store.put(key, value, LONG)) values.set(key, value)
    },
    async pass (seconds) { clock.pass(seconds) },
    operations: () => operations.splice(0),
    onTaken: undefined
  }
  return access
}

function redisStore ({ url, client }: RedisServer, keyPrefix: string): StoreAccess {
  const keys = async (): Promise<string[]> => await client.keys(`${keyPrefix}*`)
  return {
    options: { redis: url, keyPrefix },
    async read () {
      const values = new Map<string, string>()
      for (const key of await keys()) {
        const value = key.includes('probe') ? null : await client.get(key)
        if (value !== null && value !== '') values.set(key, value)
      }
      return values
    },
    async write (key, value) { await client.set(key, value, 'EX', LONG) },
    async pass (seconds) {
      for (const key of await keys()) {
        const left = await client.pttl(key) - seconds * 1000
        if (left > 0) await client.pexpire(key, left)
        else await client.del(key)
      }
    },
    operations: () => [],
    onTaken: undefined
  }
}

let stores = 0

export const storeKinds = ['in process', 'Redis', 'slow'] as const

export function openStore (kind: typeof storeKinds[number], redis: RedisServer): StoreAccess {
  if (kind === 'Redis') return redisStore(redis, `contract-${++stores}:`)
  return watched(new MemoryStore(1000), kind === 'slow' ? SLOW_STORE_TAKES : 0)
}
