import { type Store } from './store.ts'
import { ExpiringRecords } from './expiring-records.ts'
import { setImmediate } from './time-limit.ts'

// The value of a revoked key; no encrypted text is empty.
const REVOKED = ''

let turn: Promise<void> | undefined

/**
 * The in-process store, for an app of one process. Each operation runs to its end in one turn of the event loop, so it
 * is atomic. At most `limit` records; past it, the oldest goes, whatever its lifetime.
 *
 * Each operation begins in the next turn of the event loop, together with all others of this turn: requests that
 * advance together cost less than requests that are answered one by one.
 */
export function memoryStore (limit: number): Store & { close (): void } {
  const records = new ExpiringRecords(limit)

  return {
    async put (key, value, lifetime) {
      await nextTurn()
      if (records.get(key) !== undefined) return false
      records.set(key, value, lifetime)
      return true
    },

    async take (key) {
      await nextTurn()
      const value = records.get(key)
      if (value === undefined || value === REVOKED) return null
      records.delete(key)
      return value
    },

    async revoke (key, lifetime) {
      await nextTurn()
      const old = records.get(key)
      records.set(key, REVOKED, lifetime)
      return old !== undefined && old !== REVOKED
    },

    close: () => records.clear()
  }
}

/** Resolves at the beginning of the next turn of the event loop, for all who wait for it at once. */
function nextTurn (): Promise<void> {
  turn ??= new Promise((resolve) => setImmediate(() => {
    turn = undefined
    resolve()
  }))
  return turn
}
