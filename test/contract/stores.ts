// The kinds of store, each with functions that read and write it past the app.
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import type { ShiftedClocks } from '../clock.ts'
import type { RedisServer } from '../helpers/redis.ts'

export interface StoreAccess {
  /** The options of an app that uses the store. */
  options: Pick<PartnerSsoOptions, 'redis' | 'store' | 'keyPrefix'>
  /** The values that it holds by key, without revocations. */
  read (): Promise<Map<string, string>>
  /** Puts a value under the key, in place of what it holds. */
  write (key: string, value: string): Promise<void>
  /** Lets time pass for what it holds. */
  pass (seconds: number): Promise<void>
}

const LONG = 600

/** A store of the app's own process, watched. */
function watched (clocks: ShiftedClocks): StoreAccess {
  const store = new MemoryStore(1000)
  const values = new Map<string, string>()
  async function put (key: string, value: string, lifetime: number): Promise<boolean> {
    const isPut = await store.put(key, value, lifetime)
    if (isPut) values.set(key, value)
    return isPut
  }
  async function take (key: string): Promise<string | null> {
    values.delete(key)
    return await store.take(key)
  }
  async function revoke (key: string, lifetime: number): Promise<string | null> {
    values.delete(key)
    return await store.revoke(key, lifetime)
  }
  return {
    options: { store: { put, take, revoke } },
    async read () { return new Map(values) },
    async write (key, value) {
      await take(key)
      await put(key, value, LONG)
    },
    async pass (seconds) { clocks.pass(seconds) }
  }
}

function redisStore ({ url, client }: RedisServer, keyPrefix: string): StoreAccess {
  const keys = async (): Promise<string[]> => await client.keys(`${keyPrefix}*`)
  return {
    options: { redis: url, keyPrefix },
    async read () {
      const values = new Map<string, string>()
      for (const key of await keys()) {
        const value = await client.get(key)
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
    }
  }
}

let stores = 0

export const storeKinds = ['in process', 'Redis'] as const

export function openStore (
  kind: typeof storeKinds[number], redis: RedisServer, clocks: ShiftedClocks
): StoreAccess {
  return kind === 'Redis' ? redisStore(redis, `contract-${++stores}:`) : watched(clocks)
}
