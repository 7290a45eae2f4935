import { escape } from '../flow/escape.ts'
import type { Group, Rule, Severity } from './rule.ts'
import { Failed, NoResponse, Stop, Untested } from './rule.ts'
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
    findings.set(finding.id, finding)
    end = `${finding.id} fails`
    if (error instanceof Stop) {
      stopped = String(finding.reason)
      end = 'the check ended before'
      break
    }
    // A rule that found the cause elsewhere is not judged itself.
    if (finding.id !== rule.id || (rule.isGate && finding.outcome === 'fail')) break
  }
  const rules = RULES.map((rule) => findings.get(rule.id) ?? found(rule, { outcome: 'untested', reason: end }))
  const ok = !stopped && rules.every(({ outcome }) => outcome !== 'fail')
  return { ok, rules, ...stopped && { stopped } }
}

/** Tries one rule. Rejects when the signal of the subject is aborted. */
export const tryRule = async (subject: Subject, rule: GroupedRule): Promise<Finding> =>
  findingOf(subject, rule, await thrown(subject, rule))

async function thrown (subject: Subject, rule: Rule) {
  try {
    await rule.test(subject)
    return null
  } catch (error) {
    subject.signal.throwIfAborted()
    if (error instanceof Failed || error instanceof Untested) return error
    throw error
  }
}

/** Tries a rule once more where a request got no response; then it fails, as long as the app responds at all. */
async function thrownTwice (subject: Subject, rule: Rule) {
  const first = await thrown(subject, rule)
  const error = first instanceof NoResponse ? await thrown(subject, rule) : first
  if (!(error instanceof NoResponse)) return error
  return subject.askJson().then(
    () => new Failed(error.message),
    () => new Stop(error.message)
  )
}

function findingOf ({ secrets }: Subject, rule: GroupedRule, error: Failed | Untested | null): Finding {
  const mask = (text: string) => escape(secrets.mask(text))
  if (error === null) return found(rule, { outcome: 'pass' })
  if (error instanceof Untested) return found(rule, { outcome: 'untested', reason: mask(error.message) })
  const { details, message } = error
  const cause = byId(details.rule ?? rule.id)
  const severity = details.severity ?? cause.severity ?? 'must'
  const reason = details.exchange && reasonsOf(details.exchange).join(', ')
  return found(cause, {
    severity,
    outcome: severity === 'must' ? 'fail' : 'advice',
    got: mask(message),
    fix: mask(details.fix ?? cause.fix),
    ...reason && { reason }
  })
}

const found = (
  { id, group, severity = 'must', sentence }: GroupedRule,
  more: Partial<Finding> & Pick<Finding, 'outcome'>
): Finding => ({ id, group, severity, sentence, ...more })
