import type { Store } from './store.ts'
import { clearTimeout, setImmediate, setTimeout } from '../time-limit.ts'

// The value of a revoked key; no sealed text is empty.
const REVOKED = ''
/** Most characters of all values together; values are ASCII text. */
const VALUES_LIMIT = 64 * 1024 * 1024
/** Milliseconds between two sweeps of expired records. */
const SWEEP_INTERVAL = 1000
/** Records that a sweep looks at in one turn of the event loop, and more in a part that has more. */
const SLICE = 500
/** A Map that grows moves all of its records at once: a Map of a million holds up the event loop for half a second. */
const PARTS = 512

interface StoredRecord {
  key: string
  value: string
  /** A time of `performance.now()`, which is monotonic. */
  expiresAt: number
  /** The neighbours in the order of insertion. */
  older: StoredRecord
  newer: StoredRecord
}

let turn: Promise<void> | undefined

/**
 * The in-process store, for an app of one process. Each operation runs to its end in one turn of the event loop, so it
 * is atomic. It holds at most `limit` records and 64 MiB of values; past either, the oldest goes, whatever its
 * lifetime.
 *
 * Each operation begins in the next turn of the event loop, together with all others of this turn: requests that
 * advance together cost less than requests that are served one by one.
 */
export class MemoryStore implements Store {
  readonly #limit: number
  readonly #parts = Array.from({ length: PARTS }, () => new Map<string, StoredRecord>())
  /** Both ends of the list of records: `newer` is the oldest, `older` the newest. */
  readonly #ends = emptyList()
  #count = 0
  #size = 0
  /** Parts that the sweep has seen. */
  #swept = 0
  #timer: NodeJS.Timeout | undefined

  constructor (limit: number) {
    this.#limit = limit
  }

  async put (key: string, value: string, lifetime: number): Promise<boolean> {
    await nextTurn()
    if (this.#get(key) !== undefined) return false
    this.#set(key, value, lifetime)
    return true
  }

  async take (key: string): Promise<string | null> {
    await nextTurn()
    const record = this.#get(key)
    if (record === undefined || record.value === REVOKED) return null
    this.#remove(record)
    return record.value
  }

  async revoke (key: string, lifetime: number): Promise<boolean> {
    await nextTurn()
    const old = this.#get(key)
    this.#set(key, REVOKED, lifetime)
    return old !== undefined && old.value !== REVOKED
  }

  close (): void {
    clearTimeout(this.#timer)
    while (this.#count > 0) this.#remove(this.#ends.newer)
  }

  #get (key: string): StoredRecord | undefined {
    const record = this.#partOf(key).get(key)
    return record === undefined || record.expiresAt <= performance.now() ? undefined : record
  }

  #set (key: string, value: string, lifetime: number): void {
    const held = this.#partOf(key).get(key)
    if (held !== undefined) this.#remove(held)
    while (this.#isFullFor(value)) this.#remove(this.#ends.newer)
    const { older } = this.#ends
    const record = { key, value, expiresAt: performance.now() + lifetime * 1000, older, newer: this.#ends }
    this.#ends.older = older.newer = record
    this.#partOf(key).set(key, record)
    this.#count++
    this.#size += value.length
    this.#sweepIn(SWEEP_INTERVAL)
  }

  #remove (record: StoredRecord): void {
    const { key, value, older, newer } = record
    older.newer = newer
    newer.older = older
    // An old record that is garbage would keep younger ones from being collected soon.
    record.older = record.newer = record
    this.#partOf(key).delete(key)
    this.#count--
    this.#size -= value.length
  }

  #isFullFor (value: string): boolean {
    return this.#count === this.#limit || (this.#count > 0 && this.#size + value.length > VALUES_LIMIT)
  }

  /** Keys are random: any two characters tell the parts evenly. */
  #partOf (key: string): Map<string, StoredRecord> {
    const index = (31 * key.charCodeAt(key.length - 2) + key.charCodeAt(key.length - 1)) % PARTS
    return this.#parts[index] ?? this.#parts[0] as Map<string, StoredRecord>
  }

  #sweepIn (milliseconds: number): void {
    this.#timer ??= setTimeout(() => this.#dropExpired(), milliseconds).unref()
  }

  /** Looks at one slice in a turn, so that it does not hold up the event loop. */
  #dropExpired (): void {
    this.#timer = undefined
    for (let seen = 0; seen < SLICE && this.#swept < PARTS; this.#swept++) {
      seen += this.#dropExpiredOf(this.#parts[this.#swept] as Map<string, StoredRecord>)
    }
    if (this.#swept < PARTS) return this.#sweepIn(0)
    this.#swept = 0
    if (this.#count > 0) this.#sweepIn(SWEEP_INTERVAL)
  }

  #dropExpiredOf (part: Map<string, StoredRecord>): number {
    const [now, { size }] = [performance.now(), part]
    for (const record of part.values()) {
      if (record.expiresAt <= now) this.#remove(record)
    }
    return size
  }
}

function emptyList (): StoredRecord {
  const ends = { key: '', value: '', expiresAt: 0 } as StoredRecord
  ends.older = ends.newer = ends
  return ends
}

/** Resolves at the beginning of the next turn of the event loop, for all who wait for it at once. */
function nextTurn (): Promise<void> {
  turn ??= new Promise((resolve) => setImmediate(() => {
    turn = undefined
    resolve()
  }))
  return turn
}
