/** Something that must be over in time. */
export interface Pending {
  /** Whether it is over. */
  readonly isSettled: boolean
  /** Called once the time is over. */
  expire (): void
}

interface Due { pending: Pending, at: number }

// Settled calls at the head of the queue that are put up with before the queue is cut.
const SLACK = 1024

/**
 * One time limit for any number of calls. They all have the same limit, so they fall due in the order they came in: a
 * queue holds them, and one timer serves them all.
 */
export class Deadline {
  readonly milliseconds: number
  #queue: Due[] = []
  #head = 0
  #timer: NodeJS.Timeout | undefined

  constructor (milliseconds: number) {
    this.milliseconds = milliseconds
  }

  add (pending: Pending): void {
    this.#forgetSettled()
    this.#queue.push({ pending, at: performance.now() + this.milliseconds })
    this.#timer ??= this.#arm(this.milliseconds)
  }

  /** The outcome of the call, or a rejection once the time is over. */
  within<T> (call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending = { isSettled: false, expire: () => reject(new Error('The store did not answer in time')) }
      this.add(pending)
      Promise.resolve().then(call).then(resolve, reject).finally(() => { pending.isSettled = true })
    })
  }

  /** Lets go of the timer, which keeps the process for the time of the limit after the last call. */
  close (): void {
    this.#forgetSettled()
    if (this.#head < this.#queue.length) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #forgetSettled (): void {
    while (this.#queue[this.#head]?.pending.isSettled === true) this.#head++
    if (this.#head < SLACK) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }

  #arm (milliseconds: number): NodeJS.Timeout {
    // Rounded up: a timer that fires a fraction too early would find nothing due. After a stall of the event loop the
    // timers run first; the answers that have come meanwhile are read before anything is given up.
    return setTimeout(() => setImmediate(() => this.#sweep()), Math.ceil(milliseconds))
  }

  #sweep (): void {
    this.#timer = undefined
    const now = performance.now()
    for (;;) {
      this.#forgetSettled()
      const next = this.#queue[this.#head]
      if (next === undefined) return
      if (next.at > now) {
        this.#timer = this.#arm(next.at - now)
        return
      }
      this.#head++
      next.pending.expire()
    }
  }
}
