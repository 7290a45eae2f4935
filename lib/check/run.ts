import { escape } from '../flow/escape.ts'
import { Cached, Limited, NoResponse, Stopped } from './interruptions.ts'
import type { Group, Rule } from './rule.ts'
import { RULES } from './rules.ts'
import type { Subject } from './subject.ts'
import type { Severity, Verdict } from './verdict.ts'
import { Fault, Untested } from './verdict.ts'
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
  /** Whether a sign-in was judged to its end, every rule that could be tried was tried, and none fails. */
  ok: boolean
  /** In the order in which they are tried. */
  rules: Finding[]
  /** Why the run ended before most rules were tried, and what to do. */
  stopped?: string
}

/** The rule with this identifier. */
export const byId = (id: string): Rule => RULES.find((rule) => rule.id === id) as Rule

/**
 * Tries all rules. Rejects when the signal of the subject is aborted, or a login function throws.
 *
 * @param onRule - called with each rule before it is tried
 */
export async function run (subject: Subject, onRule: (rule: Rule) => void = () => {}): Promise<Run> {
  const findings = new Map<string, Finding>()
  let end = ''
  let stopped: string | undefined
  for (const rule of RULES) {
    onRule(rule)
    const verdict = await triedTwice(subject, rule)
    const finding = findingOf(subject, rule, verdict)
    const { id, outcome, reason } = finding
    findings.set(id, finding)
    // Without a user who gets in nothing more can be judged.
    if (verdict instanceof Stop || `${id} ${outcome}` === 'authorize.code untested') stopped = reason
    end = stopped ?? `${id} fails`
    // A rule that found the cause elsewhere is not judged itself.
    const isCause = verdict instanceof Fault && verdict.details.isEnd
    if (stopped !== undefined || isCause || id !== rule.id || (rule.isGate && outcome === 'fail')) break
  }
  const rules = RULES.map((rule) =>
    proven(rule, findings) ?? findings.get(rule.id) ?? found(rule, 'untested', { reason: end }))
  const ok = stopped === undefined && rules.every(({ outcome }) => outcome !== 'fail')
  return { ok, rules, ...stopped !== undefined && { stopped } }
}

/** Tries one rule. Rejects when the signal of the subject is aborted. */
export const tryRule = async (subject: Subject, rule: Rule): Promise<Finding> =>
  findingOf(subject, rule, await triedTwice(subject, rule))

/** The run cannot go on. */
class Stop extends Untested {}

/** A rule that could not be told by itself, where a later one shows that it is kept. */
function proven (rule: Rule, findings: Map<string, Finding>): Finding | undefined {
  const isOpen = findings.get(rule.id)?.outcome === 'untested'
  const proof = findings.get(String(rule.provenBy))?.outcome
  return isOpen && (proof === 'pass' || proof === 'advice') ? found(rule, 'pass') : undefined
}

/** What trying a rule comes to, interruptions included. */
async function tried (subject: Subject, rule: Rule): Promise<Verdict | NoResponse> {
  try {
    // A login function may wait for ever.
    return await Promise.race([rule.test(subject), subject.aborted])
  } catch (thrown) {
    const { reason } = subject.signal
    const error = reason instanceof Stopped ? reason : thrown
    if (error instanceof NoResponse) return error
    if (error instanceof Stopped) return new Stop(error.message)
    if (error instanceof Limited) return new Untested(error.message)
    if (error instanceof Cached) return new Fault(error.message, { fix: error.fix, isEnd: true })
    throw error
  }
}

/** Tries a rule once more where a request got no response; then it fails, as long as the app responds at all. */
async function triedTwice (subject: Subject, rule: Rule): Promise<Verdict> {
  const first = await tried(subject, rule)
  if (!(first instanceof NoResponse)) return first
  const second = await tried(subject, rule)
  if (!(second instanceof NoResponse)) return second
  const { message, fix } = second
  const isThere = await subject.askJson().then(() => true, () => false)
  if (!isThere) return new Stop(`${message} ${fix}`)
  // A hook may be what never replies.
  const isHook = rule.id.endsWith('.hook')
  return new Fault(message, { fix: isHook ? `${fix} ${rule.fix}` : fix, isEnd: true })
}

function findingOf (subject: Subject, rule: Rule, verdict: Verdict): Finding {
  const mask = (text: string) => escape(subject.mask(text))
  if (verdict === null) return found(rule, 'pass')
  if (verdict instanceof Untested) return found(rule, 'untested', { reason: mask(verdict.needs) })
  const { details, got } = verdict
  const cause = byId(details.rule ?? rule.id)
  const severity = details.severity ?? cause.severity
  const reason = details.exchange && reasonsOf(details.exchange).join(', ')
  return found(cause, severity === 'must' ? 'fail' : 'advice', {
    severity,
    got: mask(got),
    // Of our own words and the settings alone.
    fix: escape(details.fix ?? cause.fix),
    ...reason && { reason }
  })
}

const found = (
  { id, group, severity, sentence }: Rule,
  outcome: Finding['outcome'],
  more: Partial<Finding> = {}
): Finding => ({ id, group, severity, sentence, outcome, ...more })
