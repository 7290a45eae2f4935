// Time limits that pass when a test says so. Long timers of this process are registered: those of the plugin, with a
// storeTimeout of STORE_TIMEOUT, and those of the Redis clients. `advance` sets the clock forward and runs them. So no
// test waits for a time limit, and no busy machine exceeds one by chance. tap's own limit is a real timer: tap is
// loaded first.
//
// Fastify's time limit for the start is such a timer as well (10 seconds): `advance` is not for an app that starts.
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import 'tap'

/** Milliseconds: the longest that the option may be. */
export const STORE_TIMEOUT = 30_000

/** Milliseconds: shorter timers are left alone (of reconnections, of the proxy). */
const SHORTEST = STORE_TIMEOUT / 5

interface LongTimer { due: number, run: () => void }

const longTimers = new Map<unknown, LongTimer>()
const real = { setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout, now: performance.now }
let offset = 0

performance.now = () => real.now.call(performance) + offset

const setTimeout = (callback: (...values: unknown[]) => void, delay = 1, ...values: unknown[]): NodeJS.Timeout => {
  if (!(delay >= SHORTEST)) return real.setTimeout(callback, delay, ...values)
  const run = (): void => {
    clearTimeout(timer)
    callback(...values)
  }
  // A Redis client may leave one behind: the process need not wait for it.
  const timer = real.setTimeout(run, delay).unref()
  longTimers.set(timer, { due: performance.now() + delay, run })
  return timer
}

const clearTimeout = (timer: NodeJS.Timeout | undefined): void => {
  longTimers.delete(timer)
  real.clearTimeout(timer)
}

// lib takes its timers from node:timers, the clients of Redis take the globals.
Object.assign(globalThis, { setTimeout, clearTimeout })
Object.assign(timers, { setTimeout, clearTimeout })
syncBuiltinESMExports()

/** Sets the clock forward. What is due on the way runs in its order, each with turns of the event loop after it. */
export async function advance (milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds
  for (;;) {
    const [next] = [...longTimers.values()].filter(({ due }) => due <= end).sort((one, other) => one.due - other.due)
    const time = next?.due ?? end
    offset += Math.max(0, time - performance.now())
    next?.run()
    await turns()
    if (next === undefined) return
  }
}

/** Turns of the event loop: enough for all that depends on this process alone. */
export async function turns (count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
