import { type Store } from '../store.ts'
import { ExpiringRecords } from './expiring-records.ts'

// Holds the place of what was revoked; no sealed text is empty.
const REVOKED = ''

/**
 * The in-process store, for an app of one process. Each operation runs to its end in one turn of the event loop, so it
 * is atomic. At most `limit` records; past it, the one that expires first goes.
 */
export function memoryStore (limit: number): Store & { close (): void } {
  const records = new ExpiringRecords(limit)

  return {
    async put (key, value, lifetime) {
      if (records.get(key) !== undefined) return false
      records.set(key, value, lifetime)
      return true
    },

    async take (key) {
      const value = records.get(key)
      if (value === undefined || value === REVOKED) return null
      records.delete(key)
      return value
    },

    async revoke (key, lifetime) {
      records.set(key, REVOKED, lifetime)
    },

    close: () => records.clear()
  }
}
