/** Sets the clocks of this process ahead. What expires is expired at once; no timer fires for it. */
export const clock = {
  /** `performance.now()`: what has passed for deadlines and lifetimes. */
  pass (seconds: number): void { if (!isStill) passed += seconds * 1000 },
  /** Lets no time pass during the call: where requests overlap, each would take the time of all. */
  async still (call: () => Promise<unknown>): Promise<void> {
    isStill = true
    await call().finally(() => { isStill = false })
  },
  /** `Date.now()`: what the app takes for the time of day; until `back()`. */
  setDate (seconds: number): void { shifted = seconds * 1000 },
  back (): void { shifted = 0 }
}

let isStill = false
let passed = 0
let shifted = 0

const { now } = performance
performance.now = () => now.call(performance) + passed
// lib reads the time of day by this function alone.
const { now: dateNow } = Date
Date.now = () => dateNow() + shifted
