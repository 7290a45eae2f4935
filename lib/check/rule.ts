import type { Exchange } from '../flow/wire.ts'
import type { Subject } from './subject.ts'

/** `must`: it keeps people out, or lets the wrong people in. `should`: it breaks nothing; advice. */
export type Severity = 'must' | 'should'

/** The groups of rules, in the order of the report. */
export const GROUPS = {
  reach: 'Does the portal reach the plugin?',
  login: 'Does the login lead back?',
  who: 'Who gets in?',
  record: 'Does the portal get what it needs?',
  front: 'Does something change responses on the way?',
  store: 'Does the store keep its promises?'
} as const

export type Group = keyof typeof GROUPS

/** One thing that the app around the plugin must or should do. */
export interface Rule {
  /** Stable: endpoint or subject, dot, what it is about. */
  id: string
  /** `must` by default. */
  severity?: Severity
  /** What a correct app does, in one sentence. */
  sentence: string
  /** What to do where it fails, unless the finding knows more. */
  fix: string
  /** A failure leaves the later rules without meaning: it ends the list. */
  isGate?: true
  /** It is about the plugin more than about the app: where it passes it is only counted. */
  isSanity?: true
  /** @throws Failed, Untested */
  test: (subject: Subject) => Promise<unknown>
}

/** What a finding knows besides what was got. */
export interface Details {
  /** Replaces the rule's own advice, which is less exact. */
  fix?: string | undefined
  /** Replaces the rule's own severity. */
  severity?: Severity
  /** The response, where it may be a refusal: the finding has its reason. */
  exchange?: Exchange
  /** The rule that has the cause, where it is another one. It fails, and the list ends. */
  rule?: string
  /** The list ends: what was seen leaves the later rules without meaning. */
  isEnd?: true
}

/** Thrown where the app breaks a rule. */
export class Failed extends Error {
  readonly details: Details

  /** @param got - what was seen */
  constructor (got: string, details: Details = {}) {
    super(got)
    this.details = details
  }
}

/** Thrown where a rule does not apply or cannot be tried. The message says what it needs. */
export class Untested extends Error {}

/** Thrown where a request got no response. It ends the check where the app does not respond at all. */
export class NoResponse extends Untested {}

/** Thrown where a rate limit of the endpoints is met. It ends the check. */
export class LimitMet extends Untested {}

/** The results of calls at once, or the first failure, after the others have ended: no request is left on its way. */
export const atOnce = <Value>(calls: Array<Promise<Value>>) =>
  Promise.all(calls).finally(() => Promise.allSettled(calls))

/** @throws Failed with what was got */
export function expect (good: boolean, got: string, details?: Details): void {
  if (!good) throw new Failed(got, details)
}

/** @throws Failed as advice */
export const advise = (good: boolean, got: string, fix?: string) =>
  expect(good, got, { fix, severity: 'should' })
