import { fixFor } from '../../flow/failure.ts'

/** `must`: the portal or an RFC demands it. `should`: sound practice, shown as advice. */
export type Severity = 'must' | 'should'

/** Thrown where the service breaks a rule. */
export class Failed extends Error {
  /** Replaces the rule's own advice, which is less exact. */
  readonly fix: string | undefined
  /** Replaces the rule's own severity, where this finding is less certain. */
  readonly severity: Severity | undefined

  /** @param got - what the service did */
  constructor (got: string, fix?: string, severity?: Severity) {
    super(got)
    this.fix = fix
    this.severity = severity
  }
}

/** Thrown where a rule does not apply or cannot be tried. */
export class Untested extends Error {}

/**
 * Thrown where the service did not respond in a way that a rule can judge: the check is not
 * complete.
 */
export class Inconclusive extends Untested {
  readonly code: string
  readonly fix: string

  /** @param code - of a network error, or the OAuth error of the service */
  constructor (reason: string, code = '') {
    super(reason)
    this.code = code
    this.fix = code === '' ? '' : fixFor(code)
  }

  get sentence (): string {
    return `${this.message}. ${this.fix}`.trim()
  }
}

/** Ends the whole check. The message says why no rule can be tried. */
export class Stop extends Error {}
