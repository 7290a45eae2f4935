import type { Severity } from './errors.ts'
import { Failed } from './errors.ts'
import type { Service } from './service.ts'

/** The result of a rule. All texts are free of secrets and of control characters. */
export type Result =
  | { outcome: 'pass' }
  | { outcome: 'fail', severity: Severity, got: string, fix: string }
  | { outcome: 'untested', reason: string }

export type Test = (service: Service) => Promise<unknown>

/** One thing that a service must or should do. */
export interface Rule {
  /** Stable: endpoint, dot, subject. */
  id: string
  /** Where it is written, or the subject in plain words. */
  section: string
  severity: Severity
  /** What a correct service does, in one sentence. */
  sentence: string
  fix: string
  /** Rules whose failure causes this one to fail as well: then it is not tried. */
  after?: readonly string[]
  /** A failure leaves all later rules without meaning. */
  isPrerequisite?: true
  /** @throws Failed, Untested, Inconclusive, Stop */
  test: Test
}

/** @throws Failed with what was got */
export function expect (good: boolean, got: string, fix?: string, severity?: Severity): void {
  if (!good) throw new Failed(got, fix, severity)
}
