import { clearTimeout, setImmediate, setTimeout } from 'node:timers'

// Not the globals: the fake timers of a host's tests replace those, and a request would wait for ever.
export { clearTimeout, setImmediate, setTimeout }

/**
 * Calls `expire` after the deadline, a time of `performance.now()`, never before it: what waits would still be sent
 * after its request was refused. The timer is returned for `clearTimeout`.
 *
 * After a stall of the event loop timers run first, so one turn is left for responses that have arrived meanwhile:
 * `expire` may be called although the call was settled in that turn.
 */
export function atDeadline (deadline: number, expire: () => void): NodeJS.Timeout {
  // Node.js cuts off the fractions of the delay, and those of the time at which it begins: a millisecond more.
  return setTimeout(() => setImmediate(expire), Math.max(0, Math.ceil(deadline - performance.now())) + 1)
}

/** The outcome of the call, or a rejection with `late()` at the deadline. After the deadline the call is not made. */
export function within<T> (deadline: number, call: () => T | Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(late())
    if (performance.now() >= deadline) return expire()
    const timer = atDeadline(deadline, expire)
    Promise.resolve().then(call).then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
