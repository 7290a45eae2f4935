/** Something that must be over in time. */
export interface Pending {
  /** Whether it is over. */
  readonly isSettled: boolean
  /** Called once the time is over. */
  expire (): void
}

interface Due { pending: Pending, at: number, next: Due | undefined }

/**
 * One time limit for any number of calls. They all have the same limit, so they fall due in the order they came in: a
 * list holds them, and one timer serves them all.
 */
export class Deadline {
  readonly milliseconds: number
  #first: Due | undefined
  #last: Due | undefined
  #timer: NodeJS.Timeout | undefined

  constructor (milliseconds: number) {
    this.milliseconds = milliseconds
  }

  add (pending: Pending): void {
    this.#forgetSettled()
    const due: Due = { pending, at: performance.now() + this.milliseconds, next: undefined }
    if (this.#first === undefined || this.#last === undefined) this.#first = due
    else this.#last.next = due
    this.#last = due
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
    if (this.#first !== undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** What is settled and stayed here would outlive the young generation of the heap, which costs more than the call. */
  #forgetSettled (): void {
    while (this.#first?.pending.isSettled === true) this.#forgetFirst(this.#first)
  }

  #forgetFirst (first: Due): void {
    this.#first = first.next
    // A dead one that is old already would keep all that came after it alive.
    first.next = undefined
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
      const next = this.#first
      if (next === undefined) return
      if (next.at > now) {
        this.#timer = this.#arm(next.at - now)
        return
      }
      this.#forgetFirst(next)
      next.pending.expire()
    }
  }
}
