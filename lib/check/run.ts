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
  let end: string | undefined
  let stopped: string | undefined
  for (const [at, rule] of IN_ORDER.entries()) {
    if (findings.has(rule.id)) continue
    if (end !== undefined) {
      findings.set(rule.id, untested(rule, end))
      continue
    }
    watch(rule, at + 1, IN_ORDER.length)
    const error = await thrownTwice(subject, rule)
    const finding = findingOf(subject, rule, error)
    const isElsewhere = finding.id !== rule.id
    // A rule that found the cause elsewhere is not judged itself.
    if (isElsewhere) findings.set(rule.id, untested(rule, `${finding.id} fails`))
    findings.set(finding.id, finding)
    const isGate = rule.isGate === true && finding.outcome === 'fail'
    if (isElsewhere || isGate || error instanceof Stop) end = `${finding.id} fails`
    if (error instanceof Stop) stopped = String(finding.reason)
    const isUnjudged = findings.get('authorize.code')?.outcome !== 'pass'
    if (isElsewhere && isUnjudged && finding.outcome === 'advice') stopped = `${finding.got}. ${finding.fix}`
    if (stopped !== undefined) end = 'the check ended before'
  }
  const rules = Object.values(RULES)
    .flat()
    .map(({ id }) => findings.get(id) as Finding)
  const ok = stopped === undefined && rules.every(({ outcome }) => outcome !== 'fail')
  return { ok, rules, ...(stopped === undefined ? {} : { stopped }) }
}

/** Tries one rule. Rejects when the signal of the subject is aborted. */
export const tryRule = async (subject: Subject, rule: Rule): Promise<Finding> =>
  findingOf(subject, rule, await thrown(subject, rule))

type Thrown = Failed | Untested | null

async function thrown (subject: Subject, rule: Rule): Promise<Thrown> {
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
async function thrownTwice (subject: Subject, rule: Rule): Promise<Thrown> {
  const first = await thrown(subject, rule)
  if (!(first instanceof NoResponse)) return first
  const second = await thrown(subject, rule)
  if (!(second instanceof NoResponse)) return second
  const isAlive = await subject.askJson().then(
    () => true,
    () => false
  )
  return isAlive ? new Failed(second.message) : new Stop(second.message)
}

function findingOf ({ secrets }: Subject, rule: Rule, error: Thrown): Finding {
  const mask = (text: string): string => escape(secrets.mask(text))
  if (error === null) return found(rule, 'pass')
  if (error instanceof Untested) return untested(rule, mask(error.message))
  const { details, message } = error
  const cause = details.rule === undefined ? rule : byId(details.rule)
  const severity = details.severity ?? cause.severity
  const reason = (details.reasons ?? []).join(', ')
  return {
    ...found(cause, severity === 'must' ? 'fail' : 'advice'),
    severity,
    got: mask(message),
    fix: mask(details.fix ?? cause.fix),
    ...(reason === '' ? {} : { reason })
  }
}

const found = (rule: Rule, outcome: Finding['outcome']): Finding => ({
  id: rule.id,
  group: groupOf(rule),
  severity: rule.severity,
  sentence: rule.sentence,
  outcome
})

const untested = (rule: Rule, reason: string): Finding => ({ ...found(rule, 'untested'), reason })
