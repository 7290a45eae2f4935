import type { Severity } from './rule.ts'

/** Thrown where the service breaks a rule. */
export class Failed extends Error {
  /** Where more is known than the rule's own advice. */
  readonly fix: string | undefined
  /** Where this finding is less certain than the rule's other ones. */
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

/** Thrown where the service did not respond in a way that a rule can judge: the check is not complete. */
export class Inconclusive extends Untested {
  readonly fix: string

  constructor (reason: string, fix = '') {
    super(reason)
    this.fix = fix
  }
}

/** Thrown when there is no response. */
export class NoResponse extends Inconclusive {
  readonly code: string

  constructor (sentence: string, code: string, fix: string) {
    super(sentence.replace(/\.$/, ''), fix)
    this.code = code
  }
}

/** Ends the whole check: without what the sentence names no rule can be tried. */
export class Stop extends Error {}
