import { clockOf } from '../clock.ts'
import type { Clock } from '../clock.ts'

export type { Clock } from '../clock.ts'
export const newClock = (): Clock => clockOf({ teardown () {} })
export const byClock = <T>(clock: Clock, run: () => T): T => clock.run(run)
export const pass = (clock: Clock, milliseconds: number): void => clock.pass(milliseconds)
newClock()
