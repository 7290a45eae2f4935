import type { Subject } from './subject.ts'
import type { RuleId, Severity, Verdict } from './verdict.ts'

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
  id: RuleId
  group: Group
  severity: Severity
  /** What a correct app does, in one sentence. */
  sentence: string
  /** What to do where it fails, unless the fault knows more. */
  fix: string
  /** A failure leaves the later rules without meaning: it ends the list. */
  isGate?: true
  /** Where this rule cannot be told by itself: a later rule that passes only if this one is kept. */
  provenBy?: RuleId
  test: (subject: Subject) => Promise<Verdict>
}
