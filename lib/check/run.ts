import { escape } from '../flow/escape.ts'
import type { Group, Rule, Severity } from './rule.ts'
import { Failed, LimitMet, NoResponse, Untested } from './rule.ts'
import type { GroupedRule } from './rules.ts'
import { RULES } from './rules.ts'
import type { Subject } from './subject.ts'
import { reasonsOf } from './voice.ts'

/** What was found on a rule. All texts are free of secrets. */
export interface Finding {
  /** Stable: endpoint or subject, dot, what it is about. */
  id: string
  group: Group
  severity: Severity
  /** What a correct app does. */
  sentence: string
  /** `advice`: it fails, and breaks nothing. */
  outcome: 'pass' | 'fail' | 'advice' | 'untested'
  /** What was seen, where it fails or is advice. */
  got?: string
  /** What to do about it. */
  fix?: string
  /** The plugin's own word for a refusal (several may share one); where untested, what it needs. */
  reason?: string
}

export interface Run {
  /** Whether nothing fails that must not, and the rules were tried. */
  ok: boolean
  /** In the order in which they are tried. */
  rules: Finding[]
  /** Why the run ended before most rules were tried, and what to do. */
  stopped?: string
}

/** The rule with this identifier. */
export const byId = (id: string): GroupedRule => RULES.find((rule) => rule.id === id) as GroupedRule

/** Tries all rules. Rejects when the signal of the subject is aborted. */
export async function run (subject: Subject): Promise<Run> {
  const findings = new Map<string, Finding>()
  let stopped: string | undefined
  let end = ''
  for (const rule of RULES) {
    const error = await thrownTwice(subject, rule)
    const finding = findingOf(subject, rule, error)
    const { id, outcome, reason } = finding
    findings.set(id, finding)
    // Without a user who gets in nothing more can be judged.
    const isInterrupted = error instanceof NoResponse || error instanceof LimitMet
    if (isInterrupted || `${id} ${outcome}` === 'authorize.code untested') stopped = reason
    end = stopped ?? `${id} fails`
    // A rule that found the cause elsewhere is not judged itself.
    const isEnd = error instanceof Failed && error.details.isEnd
    if (stopped || isEnd || id !== rule.id || (rule.isGate && outcome === 'fail')) break
  }
  const rules = RULES.map((rule) => findings.get(rule.id) ?? found(rule, 'untested', { reason: end }))
  const ok = !stopped && rules.every(({ outcome }) => outcome !== 'fail')
  return { ok, rules, ...stopped && { stopped } }
}

/** Tries one rule. Rejects when the signal of the subject is aborted. */
export const tryRule = async (subject: Subject, rule: GroupedRule): Promise<Finding> =>
  findingOf(subject, rule, await thrown(subject, rule))

/** What a rule throws; null where it passes. */
const thrown = (subject: Subject, rule: Rule) =>
  rule
    .test(subject)
    .then(() => null, (error: unknown) => error)

/** Tries a rule once more where a request got no response; then it fails, as long as the app responds at all. */
async function thrownTwice (subject: Subject, rule: Rule) {
  const first = await thrown(subject, rule)
  if (!(first instanceof NoResponse)) return first
  const error = await thrown(subject, rule)
  if (!(error instanceof NoResponse)) return error
  return subject
    .askJson()
    .then(() => new Failed(error.message), () => error)
}

/** @throws what is no result of a rule */
function findingOf ({ secrets }: Subject, rule: GroupedRule, error: unknown): Finding {
  const mask = (text: string) => escape(secrets.mask(text))
  if (error === null) return found(rule, 'pass')
  if (error instanceof Untested) return found(rule, 'untested', { reason: mask(error.message) })
  if (!(error instanceof Failed)) throw error
  const { details, message } = error
  const cause = byId(details.rule ?? rule.id)
  const severity = details.severity ?? cause.severity
  const reason = details.exchange && reasonsOf(details.exchange).join(', ')
  return found(cause, severity === 'must' ? 'fail' : 'advice', {
    severity,
    got: mask(message),
    fix: mask(details.fix ?? cause.fix),
    ...reason && { reason }
  })
}

const found = (
  { id, group, severity, sentence }: GroupedRule,
  outcome: Finding['outcome'],
  more: Partial<Finding> = {}
): Finding => ({ id, group, severity, sentence, outcome, ...more })
