import type { Store } from './store.ts'
import { setImmediate } from '../time-limit.ts'

// The value of a revoked key; no sealed text is empty.
const REVOKED = ''
/** Most characters of all values together; values are ASCII text. */
const VALUES_LIMIT = 64 * 1024 * 1024

interface StoredRecord {
  value: string
  /** A time of `performance.now()`, which is monotonic. */
  expiresAt: number
}

/**
 * The in-process store, for an app of one process. Each operation runs to its end in one turn of the event loop, so it
 * is atomic. It holds at most `limit` records and 64 MiB of values; past either, the oldest is removed, even before it
 * expires. An expired record is removed when it has become the oldest.
 */
export function memoryStore (limit: number): Store {
  /** In the order of insertion: the oldest is the first. */
  const records = new Map<string, StoredRecord>()
  let size = 0

  return {
    async put (key, value, lifetime) {
      await nextTurn()
      if (get(key) !== undefined) return false
      set(key, value, lifetime)
      return true
    },

    async take (key) {
      await nextTurn()
      const value = get(key) || null
      remove(key)
      return value
    },

    async revoke (key, lifetime) {
      await nextTurn()
      const value = get(key) || null
      set(key, REVOKED, lifetime)
      return value
    }
  }

  function get (key: string): string | undefined {
    const record = records.get(key)
    return record === undefined || record.expiresAt <= performance.now() ? undefined : record.value
  }

  function set (key: string, value: string, lifetime: number): void {
    remove(key)
    const now = performance.now()
    for (const [oldest, { expiresAt }] of records) {
      const hasRoom = records.size < limit && size + value.length <= VALUES_LIMIT
      if (expiresAt > now && hasRoom) break
      remove(oldest)
    }
    records.set(key, { value, expiresAt: now + lifetime * 1000 })
    size += value.length
  }

  function remove (key: string): void {
    size -= records.get(key)?.value.length ?? 0
    records.delete(key)
  }
}

/** The beginning of the next turn of the event loop, for all who wait for it at once. */
let turn: Promise<void> | undefined

/**
 * Requests that arrive together advance together: with 32 at once, a sign-in takes three quarters of the processor time
 * that it takes where each request runs to its end, and a timer for each operation costs 7 % of it.
 */
function nextTurn (): Promise<void> {
  turn ??= new Promise((resolve) => setImmediate(() => {
    turn = undefined
    resolve()
  }))
  return turn
}
