// Time of the explored requests. Inside a request, timers fire and clocks advance only when the explorer says so;
// outside, time is real. Import this file first: lib may keep the timers that it finds when it is loaded.
import { AsyncLocalStorage } from 'node:async_hooks'

/** What one process calls time. */
export interface Clock {
  /** Milliseconds of `performance.now()`. */
  now: number
  readonly timers: Set<Timer>
}

interface Timer { at: number, fire: () => void }

const running = new AsyncLocalStorage<Clock>()
const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis
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

class FakeTimeout implements Timer {
  readonly at: number
  readonly fire: () => void
  readonly #timers: Set<Timer>

  constructor ({ now, timers }: Clock, milliseconds: number, fire: () => void) {
    this.at = now + milliseconds
    this.fire = fire
    this.#timers = timers
    timers.add(this)
  }

  unref (): this { return this }
  ref (): this { return this }
  hasRef (): boolean { return false }
  close (): this {
    this.#timers.delete(this)
    return this
  }
}

function fakeSetTimeout (callback: (...given: unknown[]) => void, milliseconds = 0, ...given: unknown[]): unknown {
  const clock = running.getStore()
  if (clock === undefined) return realSetTimeout(callback, milliseconds, ...given)
  return new FakeTimeout(clock, milliseconds, () => callback(...given))
}

function fakeClearTimeout (timer: unknown): void {
  if (timer instanceof FakeTimeout) timer.close()
  else realClearTimeout(timer as NodeJS.Timeout)
}

Object.assign(globalThis, { setTimeout: fakeSetTimeout, clearTimeout: fakeClearTimeout })
performance.now = () => running.getStore()?.now ?? realNow()
