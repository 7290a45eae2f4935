import { TTLCache } from '@isaacs/ttlcache'
import { type Store } from '../store.ts'

/** Holds the place of what was revoked. */
const REVOKED = Symbol('revoked')

/**
 * The in-process store, for an app of one process. Each operation runs to its end in one turn of the event loop, so it
 * is atomic. At most `limit` records; past it, the one that expires first goes. All timers together are one.
 */
export function memoryStore (limit: number): Store & { close (): void } {
  const records = new TTLCache<string, string | typeof REVOKED>({ max: limit, checkAgeOnGet: true })
  const ttl = (lifetime: number) => ({ ttl: lifetime * 1000 })

  return {
    async put (key, value, lifetime) {
      if (records.get(key) !== undefined) return false
      records.set(key, value, ttl(lifetime))
      return true
    },

    async take (key) {
      const value = records.get(key)
      if (value === undefined || value === REVOKED) return null
      records.delete(key)
      return value
    },

    async revoke (key, lifetime) {
      records.set(key, REVOKED, ttl(lifetime))
    },

    close () {
      records.cancelTimer()
      records.clear()
    }
  }
}
