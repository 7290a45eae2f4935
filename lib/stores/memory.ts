import type { Store } from './store.ts'
import { clearTimeout, setImmediate, setTimeout } from '../time-limit.ts'

// The value of a revoked key; no sealed text is empty.
const REVOKED = ''
/** Most characters of all values together; values are ASCII text. */
const VALUES_LIMIT = 64 * 1024 * 1024
/** Milliseconds between two sweeps of expired records. */
const SWEEP_INTERVAL = 1000
/** Records that a sweep looks at in one turn of the event loop: well under a millisecond. */
const SLICE = 500

interface StoredRecord {
  value: string
  /** A time of `performance.now()`, which is monotonic. */
  expiresAt: number
}

type Records = IterableIterator<[string, StoredRecord]>

let turn: Promise<void> | undefined

/**
 * The in-process store, for an app of one process. Each operation runs to its end in one turn of the event loop, so it
 * is atomic. It holds at most `limit` records and 64 MiB of values; past either, the oldest is removed, even
 * before it expires.
 *
 * Each operation begins in the next turn of the event loop, together with all others of this turn: requests that
 * advance together cost less than requests that are served one by one.
 */
export class MemoryStore implements Store {
  readonly #limit: number
  /** In the order of insertion: the oldest is the first. */
  readonly #records = new Map<string, StoredRecord>()
  #size = 0
  /** Its next record is the oldest. Renewed by each sweep: an iterator keeps the former tables of a Map that grows. */
  #oldest: Records = this.#records.entries()
  #sweep: Records | undefined
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
    const value = this.#get(key) || null
    this.#delete(key)
    return value
  }

  async revoke (key: string, lifetime: number): Promise<string | null> {
    await nextTurn()
    const value = this.#get(key) || null
    this.#set(key, REVOKED, lifetime)
    return value
  }

  close (): void {
    clearTimeout(this.#timer)
    this.#records.clear()
  }

  #get (key: string): string | undefined {
    const record = this.#records.get(key)
    return record === undefined || isExpired(record) ? undefined : record.value
  }

  #set (key: string, value: string, lifetime: number): void {
    this.#delete(key)
    while (this.#isFullFor(value)) this.#dropOldest()
    this.#records.set(key, { value, expiresAt: performance.now() + lifetime * 1000 })
    this.#size += value.length
    this.#sweepIn(SWEEP_INTERVAL)
  }

  #delete (key: string): void {
    this.#size -= this.#records.get(key)?.value.length ?? 0
    this.#records.delete(key)
  }

  #isFullFor (value: string): boolean {
    return this.#records.size === this.#limit ||
      (this.#records.size > 0 && this.#size + value.length > VALUES_LIMIT)
  }

  #dropOldest (): void {
    const { value: [key] } = this.#oldest.next() as IteratorYieldResult<[string, StoredRecord]>
    this.#delete(key)
  }

  #sweepIn (milliseconds: number): void {
    this.#timer ??= setTimeout(() => this.#dropExpired(), milliseconds).unref()
  }

  /** Looks at one slice in a turn, so that it does not hold up the event loop. */
  #dropExpired (): void {
    this.#timer = undefined
    this.#sweep ??= this.#records.entries()
    let seen = 0
    for (const [key, record] of this.#sweep) {
      if (isExpired(record)) this.#delete(key)
      if (++seen === SLICE) return this.#sweepIn(0)
    }
    this.#sweep = undefined
    this.#oldest = this.#records.entries()
    if (this.#records.size > 0) this.#sweepIn(SWEEP_INTERVAL)
  }
}

function isExpired ({ expiresAt }: StoredRecord): boolean {
  return expiresAt <= performance.now()
}

/** Resolves at the beginning of the next turn of the event loop, for all who wait for it at once. */
function nextTurn (): Promise<void> {
  turn ??= new Promise((resolve) => setImmediate(() => {
    turn = undefined
    resolve()
  }))
  return turn
}
