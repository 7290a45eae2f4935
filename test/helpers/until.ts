import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds after which a condition is given up: only one that never comes true takes so long. */
const GIVE_UP_AFTER = 120_000

/** Waits until the condition is true, by real time. The test fails where it never is. */
export async function until (condition: () => boolean | Promise<boolean>): Promise<true> {
  const end = process.hrtime.bigint() + BigInt(GIVE_UP_AFTER) * 1_000_000n
  while (process.hrtime.bigint() < end) {
    if (await condition()) return true
    await sleep(10)
  }
  throw new Error(`Waited for ${GIVE_UP_AFTER / 1000} s: ${String(condition)}`)
}
