// Clocks that a test sets. When the test has ended, the clocks and timers of the process are as before.
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'

interface Teardown { teardown (stop: () => unknown): unknown }

interface Timer { at: number, fire (): void, unref (): Timer }

const running = new AsyncLocalStorage<TestClock>()
const clockOfTimer = new WeakMap<object, TestClock>()

/** A clock by which some of the process runs. Its timers fire when the test says so. */
abstract class TestClock {
  /** Milliseconds of `performance.now()`. */
  abstract readonly now: number
  /** Milliseconds: the timers of this clock are those that are not shorter. */
  abstract readonly shortest: number
  readonly timers = new Set<Timer>()

  /** Runs the function, and all that it starts, by this clock. */
  run<T> (call: () => T): T {
    return running.run(this, call)
  }

  /** The timers that are due by then, in their order. */
  protected due (end: number): Timer[] {
    return [...this.timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)
  }

  protected fire (timer: Timer): void {
    this.timers.delete(timer)
    this.run(timer.fire)
  }
}

/** A clock that stands still: no time passes, and no timer fires, unless the test says so. */
export class Clock extends TestClock {
  now = 1000
  readonly shortest = 0

  /** Lets time pass, and fires the timers that are due by then. */
  pass (milliseconds: number): void {
    this.now += milliseconds
    for (const timer of this.due(this.now)) this.fire(timer)
  }
}

/**
 * A clock for what talks to other processes. It goes on as real time does, and short timers are real: reconnections
 * happen by themselves. Long timers, which are time limits, fire only when the test sets the clock forward: no test
 * waits for a time limit, and no busy machine exceeds one by chance.
 *
 * Fastify's time limit for the start is a long timer (ten seconds): do not set the clock forward while an app starts.
 */
export class RunningClock extends TestClock {
  /** Longer than all pauses between reconnections, and than the plugin waits for a store at its start. */
  readonly shortest = 6000
  #ahead = 0

  get now (): number {
    return real.now.call(performance) + this.#ahead
  }

  /** Sets the clock forward. What is due on the way runs in its order, each with turns of the event loop after it. */
  async advance (milliseconds: number): Promise<void> {
    const end = this.now + milliseconds
    for (;;) {
      const [next] = this.due(end)
      this.#ahead += Math.max(0, (next?.at ?? end) - this.now)
      if (next !== undefined) this.fire(next)
      await turns()
      if (next === undefined) return
    }
  }
}

/** Turns of the event loop: enough for all that depends on this process alone. */
export async function turns (count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const real = { setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout, now: performance.now }

function setTimeout (callback: (...given: unknown[]) => void, milliseconds = 0, ...given: unknown[]): unknown {
  const clock = running.getStore()
  if (clock === undefined || milliseconds < clock.shortest) return real.setTimeout(callback, milliseconds, ...given)
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

/** Lets what runs by a clock have its time and its timers, until the test ends. */
function useClocks (t: Teardown): void {
  if (users === 0) {
    replace({ setTimeout, clearTimeout }, () => running.getStore()?.now ?? real.now.call(performance))
  }
  users++
  t.teardown(() => {
    users--
    if (users === 0) replace({ setTimeout: real.setTimeout, clearTimeout: real.clearTimeout }, real.now)
  })
}

/** A clock for what the test runs by it; it stands still. What the test does not run by it keeps real time. */
export function clockOf (t: Teardown): Clock {
  useClocks(t)
  return new Clock()
}

/** A clock for what the test runs by it; it goes on. What the test does not run by it keeps real time. */
export function runningClock (t: Teardown): RunningClock {
  useClocks(t)
  return new RunningClock()
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
