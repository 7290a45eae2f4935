import { oauthError } from '../../flow/failure.ts'
import type { Exchange } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import type { Severity } from './errors.ts'
import { Failed, Untested } from './errors.ts'
import type { Service } from './service.ts'

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

/** A code or token that expires sooner is of no use to a portal, in milliseconds. */
const SHORTEST_LIFETIME = 1000

/**
 * A test of what must succeed with a code or token. On a slow machine a correct service refuses one that has expired on
 * the way: then the test is made three times at most.
 *
 * @param issue - asks for the code or token
 * @param Slow - thrown where each of the refusals may be due to that
 */
export const inTime = <Issued>(
  issue: (service: Service) => Promise<Issued>,
  test: (service: Service, issued: Issued) => Promise<unknown>,
  Slow: new (reason: string) => Error = Untested,
  rounds = 3
): Test => async (service) => {
    const issued = await issue(service)
    const { sentAt } = service
    await test(service, issued).catch(async (error: unknown) => {
      const isInTime = performance.now() - sentAt < SHORTEST_LIFETIME
      if (!(error instanceof Failed) || isInTime || !mayBeExpired(service.last as Exchange)) throw error
      if (rounds === 1) throw new Slow(`the service is so slow that the code may have expired: ${error.message}`)
      await inTime(issue, test, Slow, rounds - 1)(service)
    })
  }

/** A refusal of the code or token, or one that does not say what it refuses. */
function mayBeExpired (exchange: Exchange): boolean {
  const status = statusOf(exchange)
  const error = oauthError(exchange.response) ?? 'invalid_grant'
  return status >= 400 && status < 500 && ['invalid_grant', 'invalid_token'].includes(error)
}
