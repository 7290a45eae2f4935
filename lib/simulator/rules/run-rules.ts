import { escape } from '../../testing/escape.ts'
import { Failed, Inconclusive, Stop, Untested } from './errors.ts'
import type { Result, Rule } from './rule.ts'
import type { Service } from './service.ts'

/** A rule, what came of it, and how long it took. */
export interface Finding {
  rule: Rule
  result: Result
  milliseconds: number
  /** Why the rule could not be judged, where that concerns other rules as well. */
  error?: Inconclusive | Stop
}

/** What a run found; `stopped` says why it is not complete. */
export interface Run {
  findings: Finding[]
  stopped?: string
}

export interface Watch {
  /** Called before a rule is tried. */
  begins: (rule: Rule, number: number, total: number) => void
  /** Called when no more rule is tried. */
  ends: () => void
}

/** After so many rules in a row without a response that can be judged, the run ends. */
const MOST_INCONCLUSIVE = 3

/** Tries one rule, alone. Never rejects. */
export async function runRule (service: Service, rule: Rule): Promise<Finding> {
  const start = performance.now()
  const text = (raw: string) => escape(service.secrets.mask(raw))
  const ended = (result: Result, error?: Inconclusive | Stop): Finding => ({
    rule, result, milliseconds: Math.round(performance.now() - start), ...error === undefined ? {} : { error }
  })
  try {
    await untilAborted(service.signal, rule.test(service))
    return ended({ outcome: 'pass' })
  } catch (error) {
    if (error instanceof Failed) {
      const { severity = rule.severity, message, fix = rule.fix } = error
      return ended({ outcome: 'fail', severity, got: text(message), expected: rule.sentence, fix: text(fix) })
    }
    const known = error instanceof Untested || error instanceof Stop
    const cause = known ? error : new Inconclusive(`the check failed: ${String(error)}`)
    const result: Result = { outcome: 'untested', reason: text(cause.message) }
    return cause instanceof Inconclusive || cause instanceof Stop ? ended(result, cause) : ended(result)
  }
}

/** Tries the rules one after the other, until the service's signal ends the run. */
export async function runRules (service: Service, rules: readonly Rule[], watch: Watch): Promise<Run> {
  const findings: Finding[] = []
  const stopped = await tryAll(service, rules, findings, watch)
  watch.ends()
  return { findings, ...stopped === null ? {} : { stopped: escape(service.secrets.mask(stopped)) } }
}

/** Adds to the findings. Returns why the run is not complete, or null. */
async function tryAll (
  service: Service, rules: readonly Rule[], findings: Finding[], watch: Watch
): Promise<string | null> {
  const inconclusive: Inconclusive[] = []
  let inARow = 0
  for (const [at, rule] of rules.entries()) {
    watch.begins(rule, at + 1, rules.length)
    const finding = blocked(rule, findings) ?? await runRule(service, rule)
    if (finding.error instanceof Stop) return finding.error.message
    findings.push(finding)
    if (finding.error === undefined) {
      if (finding.result.outcome !== 'untested') inARow = 0
      continue
    }
    inconclusive.push(finding.error)
    inARow += 1
    if (inARow === MOST_INCONCLUSIVE) return `The service no longer responds: ${sentenceOf(finding.error)}`
  }
  const [first] = inconclusive
  return first === undefined ? null : `The check is not complete: ${sentenceOf(first)}`
}

/** The finding on a rule that is not tried, because another one fails or could not be judged. */
function blocked (rule: Rule, findings: readonly Finding[]): Finding | null {
  const cause = findings.find(({ rule: { id }, result, error }) =>
    rule.after.includes(id) && (result.outcome === 'fail' || error !== undefined))
  if (cause === undefined) return null
  const reason = `${cause.rule.id} ${cause.error === undefined ? 'fails' : 'could not be judged'}`
  return { rule, result: { outcome: 'untested', reason }, milliseconds: 0 }
}

export const sentenceOf = ({ message, fix }: Inconclusive): string => `${message}. ${fix}`.trim()

/** @throws Stop when the signal is aborted, also within a rule that waits */
async function untilAborted (signal: AbortSignal, test: Promise<unknown>): Promise<void> {
  const finished = new AbortController()
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = () => reject(new Stop((signal.reason as Error).message))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true, signal: finished.signal })
  })
  await Promise.race([aborted, test]).finally(() => finished.abort())
}
