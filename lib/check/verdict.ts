import type { Exchange } from '../flow/wire.ts'

/** The identifier of a rule. Stable: endpoint or subject, dot, what it is about. */
export type RuleId =
  | 'authorize.hook'
  | 'token.hook'
  | 'user.hook'
  | 'authorize.registered'
  | 'address.https'
  | 'login.page'
  | 'login.cookie'
  | 'login.form-action'
  | 'login.return'
  | 'login.open-redirect'
  | 'authorize.login-needed'
  | 'authorize.code'
  | 'authorize.access-denied'
  | 'service.one-store'
  | 'token.response'
  | 'user.record'
  | 'user.other-user'
  | 'authorize.state'
  | 'service.headers'
  | 'service.refusals'
  | 'token.replay-revokes'

/** `must`: it keeps people out, or lets the wrong people in. `should`: it breaks nothing; advice. */
export type Severity = 'must' | 'should'

/** What a fault knows in addition to what was got. */
export interface Details {
  /** The rule that is broken, where it is another one than the rule that is tried. The list ends then. */
  rule?: RuleId | undefined
  /** Replaces the rule's own advice, which is less exact. */
  fix?: string | undefined
  /** `must` by default. */
  severity?: Severity
  /** The response, where it may be a refusal: the finding has its reason. */
  exchange?: Exchange
  /** The list ends: what was seen leaves the later rules without meaning. */
  isEnd?: true
}

/** The app breaks a rule. */
export class Fault {
  /** What was seen. */
  readonly got: string
  readonly details: Details

  constructor (got: string, details: Details = {}) {
    this.got = got
    this.details = details
  }
}

/** A rule does not apply, or cannot be tried. */
export class Untested {
  /** What it needs. */
  readonly needs: string

  constructor (needs: string) {
    this.needs = needs
  }
}

/** What trying a rule comes to. Null: the app keeps it. */
export type Verdict = Fault | Untested | null

/** A value, or why there is none. */
export type Or<Value> = Value | Fault | Untested

/** Whether there is a verdict instead of a value. */
export const isVerdict = (result: unknown): result is Fault | Untested =>
  result instanceof Fault || result instanceof Untested

/** A fault that breaks nothing. */
export const advice = (got: string, fix?: string): Fault => new Fault(got, { fix, severity: 'should' })

/** The verdict that counts: what keeps people out, then advice, then what is untested. */
export function gravest (verdicts: readonly Verdict[]): Verdict {
  const faults = verdicts.filter((verdict) => verdict instanceof Fault)
  return (
    faults.find(({ details }) => details.severity !== 'should') ??
    faults[0] ??
    verdicts.find((verdict) => verdict !== null) ??
    null
  )
}

/** The results of calls at once, or the first error, after the others have ended: no request is left on its way. */
export const atOnce = <Value>(calls: Array<Promise<Value>>) =>
  Promise.all(calls).finally(() => Promise.allSettled(calls))
