// Clocks that a test sets. When the test has ended, the clocks and timers of the process are as before.
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'

interface Teardown { teardown (stop: () => unknown): unknown }

interface Timer { at: number, fire (): void, unref (): Timer }

const running = new AsyncLocalStorage<Clock>()
const clockOfTimer = new WeakMap<object, Clock>()

/** A clock by which some of the process runs: no time passes there, and no timer fires, unless the test says so. */
export class Clock {
  /** Milliseconds of `performance.now()`. */
  now = 1000
  readonly timers = new Set<Timer>()

  /** Runs the function, and all that it starts, by this clock. */
  run<T> (call: () => T): T {
    return running.run(this, call)
  }

  /** Lets time pass, and fires the timers that are due by then. */
  pass (milliseconds: number): void {
    this.now += milliseconds
    const due = [...this.timers].filter(({ at }) => at <= this.now).sort((one, other) => one.at - other.at)
    for (const timer of due) {
      this.timers.delete(timer)
      this.run(timer.fire)
    }
  }
}

const real = { setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout, now: performance.now }

function setTimeout (callback: (...given: unknown[]) => void, milliseconds = 0, ...given: unknown[]): unknown {
  const clock = running.getStore()
  if (clock === undefined) return real.setTimeout(callback, milliseconds, ...given)
  const timer: Timer = { at: clock.now + milliseconds, fire: () => callback(...given), unref: () => timer }
  clock.timers.add(timer)
  clockOfTimer.set(timer, clock)
  return timer
}

function clearTimeout (timer: NodeJS.Timeout & Timer): void {
  clockOfTimer.get(timer)?.timers.delete(timer)
  real.clearTimeout(timer)
}

function replace (functions: object, now: () => number): void {
  // lib takes its timers from node:timers, some of its packages take the globals.
  Object.assign(globalThis, functions)
  Object.assign(timers, functions)
  syncBuiltinESMExports()
  performance.now = now
}

/** How many tests have a clock now. */
let users = 0

/** A clock for what the test runs by it. What it does not run by it keeps real time. */
export function clockOf (t: Teardown): Clock {
  if (users === 0) {
    replace({ setTimeout, clearTimeout }, () => running.getStore()?.now ?? real.now.call(performance))
  }
  users++
  t.teardown(() => {
    users--
    if (users === 0) replace({ setTimeout: real.setTimeout, clearTimeout: real.clearTimeout }, real.now)
  })
  return new Clock()
}

/** The clocks of the whole process, ahead of real time. What expires is expired at once; no timer fires for it. */
export interface ShiftedClocks {
  /** Lets time pass by `performance.now()`: for deadlines and lifetimes. */
  pass (seconds: number): void
  /** Sets `Date.now()`, the time of day, so many seconds ahead of real time. */
  setDate (seconds: number): void
}

/** Shifts the clocks of the whole process, until the test ends. */
export function shiftedClocks (t: Teardown): ShiftedClocks {
  const { now } = performance
  const { now: dateNow } = Date
  let passed = 0
  let shifted = 0
  performance.now = () => now.call(performance) + passed
  Date.now = () => dateNow() + shifted
  t.teardown(() => {
    performance.now = now
    Date.now = dateNow
  })
  return {
    pass (seconds) { passed += seconds * 1000 },
    setDate (seconds) { shifted = seconds * 1000 }
  }
}
