import { Failed, Inconclusive } from './errors.ts'
import type { Service } from './service.ts'

/** `must`: the portal or an RFC demands it. `should`: sound practice, shown as advice. */
export type Severity = 'must' | 'should'

/** What came of a rule. All texts are free of secrets and of control characters. */
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
  after: readonly string[]
  /** Whether a failure leaves all later rules without meaning. */
  isPrerequisite: boolean
  /** @throws Failed, Untested, Inconclusive, Stop */
  test: Test
}

const rule = (severity: Severity, isPrerequisite = false) =>
  (id: string, section: string, sentence: string, fix: string, test: Test, after: string[] = []): Rule =>
    ({ id, section, severity, sentence, fix, after, isPrerequisite, test })

export const must = rule('must')
export const should = rule('should')
export const prerequisite = rule('must', true)

/** @throws Failed with what was got */
export function expect (good: boolean, got: string, fix?: string, severity?: Severity): void {
  if (!good) throw new Failed(got, fix, severity)
}

/** A code or token that expires sooner is of no use to a portal, in milliseconds. */
const SHORTEST_LIFETIME = 1000
const ROUNDS = 3

/**
 * A test of what must succeed. A failure counts only where the whole trial took less time than any code lives: on a
 * slow machine a correct service refuses a code that has expired on the way.
 */
export const inTime = (test: Test): Test => async (service) => {
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    try {
      return await test(service)
    } catch (error) {
      if (!(error instanceof Failed) || performance.now() - start < SHORTEST_LIFETIME) throw error
    }
  }
  throw new Inconclusive('the service is so slow that a code may expire before it is used')
}
