// Records looked at in one turn of the event loop: well under a millisecond.
const SLICE = 500

const SWEEP_INTERVAL = 1000

/** A member of a ring. */
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

class ExpiringRecord extends Link {
  readonly key: string
  readonly value: string
  /** A time of `performance.now()`, which is monotonic. */
  readonly expiresAt: number

  constructor (key: string, value: string, expiresAt: number) {
    super()
    this.key = key
    this.value = value
    this.expiresAt = expiresAt
  }
}

/** At most `limit` records, each for its lifetime. Past the limit the oldest goes, whatever its lifetime. */
export class ExpiringRecords {
  readonly #limit: number
  readonly #records = new Map<string, ExpiringRecord>()
  /** Head of the ring of records: the oldest follows. (An iterator of the Map would keep each former copy of it.) */
  readonly #head = new Link()
  /** Stands in the ring where the sweep goes on. */
  readonly #swept = new Link()
  #timer: NodeJS.Timeout | undefined

  constructor (limit: number) {
    this.#limit = limit
  }

  get size (): number {
    return this.#records.size
  }

  get (key: string): string | undefined {
    const record = this.#records.get(key)
    return record === undefined || isExpired(record) ? undefined : record.value
  }

  /** Stores the value for lifetime seconds, in place of what the key held. */
  set (key: string, value: string, lifetime: number): void {
    this.delete(key)
    if (this.size === this.#limit) this.#drop(this.#oldest())
    const record = new ExpiringRecord(key, value, performance.now() + lifetime * 1000)
    record.insertBefore(this.#head)
    this.#records.set(key, record)
    this.#sweepIn(SWEEP_INTERVAL)
  }

  delete (key: string): void {
    const record = this.#records.get(key)
    if (record !== undefined) this.#drop(record)
  }

  clear (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#swept.remove()
    this.#head.remove()
    this.#records.clear()
  }

  #drop (record: ExpiringRecord): void {
    record.remove()
    this.#records.delete(record.key)
  }

  #oldest (): ExpiringRecord {
    const first = this.#head.after
    return (first === this.#swept ? first.after : first) as ExpiringRecord
  }

  #sweepIn (milliseconds: number): void {
    this.#timer ??= setTimeout(() => this.#sweep(), milliseconds).unref()
  }

  /** Drops expired records. Looks at one slice in a turn, so that it does not hold up the event loop. */
  #sweep (): void {
    this.#timer = undefined
    let next = (this.#swept.after === this.#swept ? this.#head : this.#swept).after
    this.#swept.remove()
    for (let seen = 0; seen < SLICE && next !== this.#head; seen++) {
      const record = next as ExpiringRecord
      next = record.after
      if (isExpired(record)) this.#drop(record)
    }
    if (next !== this.#head) {
      this.#swept.insertBefore(next)
      this.#sweepIn(0)
    } else if (this.size > 0) {
      this.#sweepIn(SWEEP_INTERVAL)
    }
  }
}

function isExpired ({ expiresAt }: ExpiringRecord): boolean {
  return expiresAt <= performance.now()
}
