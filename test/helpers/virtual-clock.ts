// Time of the explored requests. Inside a request, timers fire and clocks advance only when the explorer says so;
// outside, time is real.
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'

/** The time of one process. */
export interface Clock {
  /** Milliseconds of `performance.now()`. */
  now: number
  readonly timers: Set<Timer>
}

interface Timer { at: number, fire (): void, unref (): Timer }

const running = new AsyncLocalStorage<Clock>()
const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = timers
const realNow = performance.now.bind(performance)

export const newClock = (): Clock => ({ now: 1000, timers: new Set() })

/** Runs the function, and all that it starts, by this clock. */
export function byClock<T> (clock: Clock, run: () => T): T {
  return running.run(clock, run)
}

/** Lets time pass, and fires the timers that are due by then. */
export function pass (clock: Clock, milliseconds: number): void {
  clock.now += milliseconds
  const due = [...clock.timers].filter(({ at }) => at <= clock.now).sort((a, b) => a.at - b.at)
  for (const timer of due) {
    clock.timers.delete(timer)
    byClock(clock, timer.fire)
  }
}

const clockOf = new WeakMap<object, Clock>()

function fakeSetTimeout (callback: (...given: unknown[]) => void, milliseconds = 0, ...given: unknown[]): unknown {
  const clock = running.getStore()
  if (clock === undefined) return realSetTimeout(callback, milliseconds, ...given)
  const timer: Timer = { at: clock.now + milliseconds, fire: () => callback(...given), unref: () => timer }
  clock.timers.add(timer)
  clockOf.set(timer, clock)
  return timer
}

function fakeClearTimeout (timer: NodeJS.Timeout & Timer): void {
  clockOf.get(timer)?.timers.delete(timer)
  realClearTimeout(timer)
}

const fakes = { setTimeout: fakeSetTimeout, clearTimeout: fakeClearTimeout }
Object.assign(globalThis, fakes)
// lib imports them from there.
Object.assign(timers, fakes)
syncBuiltinESMExports()
performance.now = () => running.getStore()?.now ?? realNow()
