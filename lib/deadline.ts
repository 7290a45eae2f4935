/** Something that must be over in time. */
export interface Pending {
  /** Called once the time is over. */
  expire (): void
}

/**
 * One time limit for any number of calls. They all have the same limit, so they fall due in the order they came in,
 * and one timer serves them all.
 */
export class Deadline {
  readonly milliseconds: number
  readonly #pending = new Map<Pending, number>()
  #timer: NodeJS.Timeout | undefined

  constructor (milliseconds: number) {
    this.milliseconds = milliseconds
  }

  add (pending: Pending): void {
    this.#pending.set(pending, performance.now() + this.milliseconds)
    this.#timer ??= this.#arm(this.milliseconds)
    // The process stays for the answer, if only to get this one.
    this.#timer.ref()
  }

  /** Takes out what is over. */
  delete (pending: Pending): void {
    this.#pending.delete(pending)
    if (this.#pending.size === 0) this.#timer?.unref()
  }

  /** The outcome of the call, or a rejection once the time is over. */
  within<T> (call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending = { expire: () => reject(new Error('The store did not answer in time')) }
      this.add(pending)
      Promise.resolve().then(call).then(resolve, reject).finally(() => this.delete(pending))
    })
  }

  #arm (milliseconds: number): NodeJS.Timeout {
    // Rounded up: a timer that fires a fraction too early would find nothing due. After a stall of the event loop the
    // timers run first; the answers that have come meanwhile are read before anything is given up.
    return setTimeout(() => setImmediate(() => this.#sweep()), Math.ceil(milliseconds))
  }

  #sweep (): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [pending, dueAt] of this.#pending) {
      if (dueAt > now) {
        this.#timer = this.#arm(dueAt - now)
        return
      }
      this.#pending.delete(pending)
      pending.expire()
    }
  }
}
