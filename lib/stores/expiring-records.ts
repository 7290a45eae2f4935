// A Map is copied as a whole when it grows or shrinks, which takes tens of milliseconds with a million entries. Spread
// over many small ones, each copy takes microseconds.
const SHARDS = 1024

// Records dropped in one turn of the event loop: well under a millisecond.
const SLICE = 500

const SWEEP_INTERVAL = 1000

/** One of a ring of records: those of one lifetime, which expire in the order they came in. */
class Link {
  before: Link = this
  after: Link = this

  insertBefore (next: Link): void {
    this.before = next.before
    this.after = next
    next.before.after = this
    next.before = this
  }

  remove (): void {
    this.before.after = this.after
    this.after.before = this.before
    // A removed record that still pointed to others would keep the garbage collector busy.
    this.before = this.after = this
  }
}

class Record extends Link {
  readonly key: string
  readonly value: string
  /** On the clock of `performance.now()`, which nobody sets back. */
  readonly expiresAt: number

  constructor (key: string, value: string, expiresAt: number) {
    super()
    this.key = key
    this.value = value
    this.expiresAt = expiresAt
  }
}

/** At most `limit` records, each for its lifetime. No call and no sweep holds up the event loop, however many they are. */
export class ExpiringRecords {
  readonly #limit: number
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<string, Record>())
  /** A ring for each lifetime; the record that expires first follows the ring's head. */
  readonly #rings = new Map<number, Link>()
  #size = 0
  #timer: NodeJS.Timeout | undefined

  constructor (limit: number) {
    this.#limit = limit
  }

  get size (): number {
    return this.#size
  }

  get (key: string): string | undefined {
    const record = this.#shard(key).get(key)
    return record === undefined || isOver(record) ? undefined : record.value
  }

  /** Stores the value for lifetime seconds, in place of what the key held. */
  set (key: string, value: string, lifetime: number): void {
    this.delete(key)
    if (this.#size === this.#limit) this.#drop(this.#first() as Record)
    const record = new Record(key, value, performance.now() + lifetime * 1000)
    record.insertBefore(this.#ring(lifetime))
    this.#shard(key).set(key, record)
    this.#size++
    this.#sweepIn(SWEEP_INTERVAL)
  }

  delete (key: string): void {
    const record = this.#shard(key).get(key)
    if (record !== undefined) this.#drop(record)
  }

  clear (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#rings.clear()
    for (const shard of this.#shards) shard.clear()
    this.#size = 0
  }

  #shard (key: string): Map<string, Record> {
    let hash = 0
    for (let index = 0; index < key.length; index++) hash = (hash * 31 + key.charCodeAt(index)) | 0
    return this.#shards[hash & (SHARDS - 1)] as Map<string, Record>
  }

  #ring (lifetime: number): Link {
    let ring = this.#rings.get(lifetime)
    if (ring === undefined) this.#rings.set(lifetime, ring = new Link())
    return ring
  }

  #drop (record: Record): void {
    record.remove()
    this.#shard(record.key).delete(record.key)
    this.#size--
  }

  /** The record that expires first. There are only as many rings as there are lifetimes: a handful. */
  #first (): Record | undefined {
    let first: Record | undefined
    for (const ring of this.#rings.values()) {
      if (ring.after === ring) continue
      const record = ring.after as Record
      if (first === undefined || record.expiresAt < first.expiresAt) first = record
    }
    return first
  }

  #sweepIn (milliseconds: number): void {
    this.#timer ??= setTimeout(() => this.#sweep(), milliseconds).unref()
  }

  /** Drops what is over, a slice at a time. */
  #sweep (): void {
    this.#timer = undefined
    let record
    for (let dropped = 0; (record = this.#first()) !== undefined && isOver(record); dropped++) {
      if (dropped === SLICE) return this.#sweepIn(0)
      this.#drop(record)
    }
    if (record !== undefined) this.#sweepIn(SWEEP_INTERVAL)
  }
}

function isOver ({ expiresAt }: Record): boolean {
  return expiresAt <= performance.now()
}
