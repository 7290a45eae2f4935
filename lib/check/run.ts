import { escape } from '../flow/escape.ts'
import type { Group, Rule, Severity } from './rule.ts'
import { Failed, GROUPS, NoResponse, Stop, Untested } from './rule.ts'
import { IN_ORDER, RULES } from './rules.ts'
import type { Subject } from './subject.ts'

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
  /** In the order of the groups. */
  rules: Finding[]
  /** Why the run ended before most rules were tried, and what to do. */
  stopped?: string
}

/** Called before each rule. */
export type Watch = (rule: Rule, number: number, total: number) => void

const groupOf = (rule: Rule): Group =>
  (Object.keys(GROUPS) as Group[]).find((group) => RULES[group].includes(rule)) as Group

const byId = (id: string): Rule => IN_ORDER.find((rule) => rule.id === id) as Rule

/** The rules with these identifiers. */
export const rulesOf = (ids: readonly string[]): Rule[] => ids.map(byId)

/** Tries all rules. Rejects when the signal of the subject is aborted. */
export async function run (subject: Subject, watch: Watch = () => {}): Promise<Run> {
  const findings = new Map<string, Finding>()
  let end: string | null = null
  let stopped: string | undefined
  for (const [at, rule] of IN_ORDER.entries()) {
    if (findings.has(rule.id)) continue
    if (end !== null) {
      findings.set(rule.id, untested(rule, end))
      continue
    }
    watch(rule, at + 1, IN_ORDER.length)
    const { finding, ended, stop } = await tried(subject, rule)
    // A rule that found the cause elsewhere is not judged itself.
    if (finding.id !== rule.id) findings.set(rule.id, untested(rule, `${finding.id} fails`))
    findings.set(finding.id, finding)
    if (!ended) continue
    end = stop === undefined ? `${finding.id} fails` : 'the check ended before'
    const isUnjudged = finding.outcome === 'advice' && findings.get('authorize.code')?.outcome !== 'pass'
    stopped = stop ?? (isUnjudged ? `${finding.got}. ${finding.fix}` : undefined)
  }
  const list = Object.values(RULES)
    .flat()
    .map(({ id }) => findings.get(id) as Finding)
  const ok = stopped === undefined && list.every(({ outcome }) => outcome !== 'fail')
  return { ok, rules: list, ...(stopped === undefined ? {} : { stopped }) }
}

interface Tried {
  finding: Finding
  ended: boolean
  stop?: string | undefined
}

/** Tries one rule. Rejects when the signal of the subject is aborted. */
export async function tryRule (subject: Subject, rule: Rule): Promise<Finding> {
  return (await tried(subject, rule, 0)).finding
}

/** @param tries - how often it is tried where a request gets no response; 0: then it is untested */
async function tried (subject: Subject, rule: Rule, tries = 2): Promise<Tried> {
  const mask = (text: string): string => escape(subject.secrets.mask(text))
  try {
    await rule.test(subject)
    return { finding: found(rule, 'pass'), ended: false }
  } catch (error) {
    subject.signal.throwIfAborted()
    if (error instanceof Failed) return failed(rule, error, mask)
    if (error instanceof Untested) return { finding: untested(rule, mask(error.message)), ended: false }
    if (error instanceof Stop) return stopped(rule, mask(error.message))
    if (!(error instanceof NoResponse)) throw error
    if (tries === 0) return { finding: untested(rule, mask(error.message)), ended: false }
    if (tries > 1) return tried(subject, rule, tries - 1)
    const isAlive = await subject.isAlive()
    return isAlive ? failed(rule, new Failed(error.message), mask) : stopped(rule, mask(error.message))
  }
}

const stopped = (rule: Rule, stop: string): Tried => ({
  finding: untested(rule, 'the check ended here'),
  ended: true,
  stop
})

function failed (rule: Rule, error: Failed, mask: (text: string) => string): Tried {
  const { details } = error
  const cause = details.rule === undefined ? rule : byId(details.rule)
  const severity = details.severity ?? cause.severity
  const reason = (details.reasons ?? []).join(', ')
  const finding = {
    ...found(cause, severity === 'must' ? ('fail' as const) : ('advice' as const)),
    severity,
    got: mask(error.message),
    fix: mask(details.fix ?? cause.fix),
    ...(reason === '' ? {} : { reason })
  }
  const isElsewhere = cause.id !== rule.id
  return { finding, ended: severity === 'must' ? cause.isGate === true || isElsewhere : isElsewhere }
}

const found = (rule: Rule, outcome: Finding['outcome']): Finding => ({
  id: rule.id,
  group: groupOf(rule),
  severity: rule.severity,
  sentence: rule.sentence,
  outcome
})

const untested = (rule: Rule, reason: string): Finding => ({ ...found(rule, 'untested'), reason })
