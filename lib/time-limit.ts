import { clearTimeout, setImmediate, setTimeout } from 'node:timers'

// Not the globals: the fake timers of a host's tests replace those, and a request would wait for ever.
export { clearTimeout, setImmediate, setTimeout }

/** The longest delay of a timer of Node.js in milliseconds: some 24 days. A longer delay would end after one. */
const LONGEST_DELAY = 2 ** 31 - 1

/**
 * Calls `expire` after a deadline, and never before it: a call that still waits would be made although its request was
 * refused.
 *
 * Node.js runs timers before it reads the responses that arrived while the event loop was blocked. It reads them in the
 * turn that follows the timers, and `expire` is called after that turn. So `expire` may be called although the response
 * has just been read; the caller ignores it then.
 *
 * @param deadline - a time of `performance.now()`, in milliseconds. One that is later than 24 days from now counts as
 *   24 days
 * @returns the timer, for `clearTimeout`
 */
export function atDeadline (deadline: number, expire: () => void): NodeJS.Timeout {
  // Node.js cuts off the fraction of a delay, and the fraction of the time at which the delay begins: hence the ceiling
  // and one millisecond more.
  const delay = Math.max(0, Math.ceil(deadline - performance.now())) + 1
  return setTimeout(() => setImmediate(expire), Math.min(delay, LONGEST_DELAY))
}

/**
 * Makes a call that has to end before a deadline. After the deadline the call is not made at all.
 *
 * @param deadline - a time of `performance.now()`, in milliseconds
 * @param late - makes the error of a call that has not ended at the deadline
 * @returns what the call returns. Rejects with what the call throws, or with the error of `late`
 */
export function within<T> (deadline: number, call: () => T | Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(late())
    if (performance.now() >= deadline) return expire()
    const timer = atDeadline(deadline, expire)
    void settle()

    async function settle (): Promise<void> {
      try {
        resolve(await call())
      } catch (error) {
        reject(error)
      } finally {
        clearTimeout(timer)
      }
    }
  })
}

/** The beginning of the next turn of the event loop, for all who wait for it at once. */
let turn: Promise<void> | undefined

/** Resolves in the next turn of the event loop, when all that has arrived by then has been read. */
export function nextTurn (): Promise<void> {
  turn ??= new Promise((resolve) => setImmediate(() => {
    turn = undefined
    resolve()
  }))
  return turn
}
