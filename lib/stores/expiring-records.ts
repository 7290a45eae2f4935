// Records looked at in one turn of the event loop: well under a millisecond.
const SLICE = 500

const SWEEP_INTERVAL = 1000

interface ExpiringRecord {
  value: string
  /** A time of `performance.now()`, which is monotonic. */
  expiresAt: number
}

/** At most `limit` records, each for its lifetime. Past the limit the oldest goes, whatever its lifetime. */
export class ExpiringRecords {
  readonly #limit: number
  /** In the order of their age. */
  readonly #records = new Map<string, ExpiringRecord>()
  /**
   * Stands before the oldest record. Kept, because a new iterator would step over all that was deleted since the last
   * time the Map was copied.
   */
  readonly #oldest = this.#records.keys()
  /** Where the sweep goes on. */
  #swept = this.#records.entries()
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
    this.#records.delete(key)
    if (this.size >= this.#limit) this.#records.delete(this.#oldest.next().value as string)
    this.#records.set(key, { value, expiresAt: performance.now() + lifetime * 1000 })
    this.#sweepIn(SWEEP_INTERVAL)
  }

  delete (key: string): void {
    this.#records.delete(key)
  }

  clear (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#records.clear()
  }

  #sweepIn (milliseconds: number): void {
    this.#timer ??= setTimeout(() => this.#sweep(), milliseconds).unref()
  }

  /** Drops expired records. Looks at one slice in a turn, so that it does not hold up the event loop. */
  #sweep (): void {
    this.#timer = undefined
    for (let seen = 0; seen < SLICE; seen++) {
      const { value: entry, done } = this.#swept.next()
      if (done === true) return this.#endSweep()
      const [key, record] = entry
      if (isExpired(record)) this.#records.delete(key)
    }
    this.#sweepIn(0)
  }

  #endSweep (): void {
    this.#swept = this.#records.entries()
    if (this.size > 0) this.#sweepIn(SWEEP_INTERVAL)
  }
}

function isExpired ({ expiresAt }: ExpiringRecord): boolean {
  return expiresAt <= performance.now()
}
