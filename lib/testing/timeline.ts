import { type Failure } from './failure.ts'
import { type Secrets } from './masking.ts'
import { STEPS, type Step } from './steps.ts'
import { type Exchange } from './wire.ts'

/** How far a step has come. A step after a failed one stays `waiting`. */
export type Outcome = 'waiting' | 'running' | 'done' | 'failed'

/** One of the fifteen steps of the flow, and what happened in it. */
export interface StepReport extends Step {
  outcome: Outcome
  /** What happened, in one sentence; empty where the action says it all. */
  note: string
  /** The HTTP exchange of the step, where it has one. */
  exchange?: Exchange
  /** Duration of the step's own exchange; absent where the step makes no call. */
  milliseconds?: number
}

const OPEN = { outcome: 'waiting', note: '' }

/** Steps that an error shows to have succeeded. */
const PROVEN: Record<string, number[]> = {
  no_code: [5, 6],
  state_mismatch: [5, 6, 7],
  malformed_token: [10, 11],
  malformed_record: [14]
}

/** The fifteen steps of one sign-in as they happen. */
export class Timeline {
  readonly reports: StepReport[] = STEPS.map((step) => ({ ...step, outcome: 'waiting', note: '' }))

  run (number: number, note: string): void {
    Object.assign(this.#report(number), { outcome: 'running', note })
  }

  done (number: number, note: string, exchange?: Exchange): void {
    Object.assign(this.#report(number), { outcome: 'done', note }, this.#timed(exchange))
  }

  /** Marks the failing step. Of the steps before it, those that the failure proves are done; the others stay open. */
  fail ({ step, error, got }: Failure, exchange?: Exchange): void {
    for (const report of this.reports) {
      if (report.outcome === 'running') Object.assign(report, report.number === 5 ? OPEN : { outcome: 'done' })
    }
    for (const number of PROVEN[error] ?? []) this.done(number, '')
    Object.assign(this.#report(step), { outcome: 'failed', note: got }, this.#timed(exchange))
  }

  /** The reports with every secret hidden. */
  masked (secrets: Secrets): StepReport[] {
    return this.reports.map((report) => {
      const exchange = report.exchange === undefined ? {} : { exchange: secrets.maskExchange(report.exchange) }
      return { ...report, note: secrets.mask(report.note), ...exchange }
    })
  }

  #timed (exchange?: Exchange): Partial<StepReport> {
    if (exchange === undefined) return {}
    const answered = exchange.response !== undefined || exchange.trouble !== undefined
    return answered ? { exchange, milliseconds: exchange.milliseconds } : { exchange }
  }

  #report (number: number): StepReport {
    return this.reports[number - 1] as StepReport
  }
}
