import { escape } from '../../flow/escape.ts'
import { Failed, Inconclusive, Stop, Untested } from './errors.ts'
import type { Result, Rule } from './rule.ts'
import type { Service } from './service.ts'

/** A rule, its result, and how long it took. */
export interface Finding {
  rule: Rule
  result: Result
  milliseconds: number
  /** Why the rule could not be judged, where that concerns other rules as well. */
  error?: Inconclusive | Stop | undefined
}

/** What a run found; `stopped` says why it is not complete. */
export interface Run {
  findings: Finding[]
  stopped?: string | undefined
}

/** Called before a rule is tried. */
export type Watch = (rule: Rule, number: number, total: number) => void

/** After so many rules in a row without a response that can be judged, the run ends. */
const MOST_INCONCLUSIVE = 3

/** Tries one rule, alone. Never rejects. */
export async function runRule (service: Service, rule: Rule): Promise<Finding> {
  const start = performance.now()
  const thrown =
    await rule.test(service).then(() => null, (error: unknown) => causeOf(error, service.signal))
  const milliseconds = Math.round(performance.now() - start)
  const error = thrown instanceof Inconclusive || thrown instanceof Stop ? thrown : undefined
  return { rule, result: resultOf(service, rule, thrown), milliseconds, error }
}

function causeOf (error: unknown, { aborted, reason }: AbortSignal): Failed | Untested | Stop {
  if (aborted) return new Stop((reason as Error).message)
  const isKnown = error instanceof Failed || error instanceof Untested || error instanceof Stop
  return isKnown ? error : new Inconclusive(`the check failed: ${String(error)}`)
}

function resultOf (service: Service, rule: Rule, error: Error | null): Result {
  if (error === null) return { outcome: 'pass' }
  if (!(error instanceof Failed)) {
    return { outcome: 'untested', reason: shown(service, error.message) }
  }
  const { severity = rule.severity, message, fix = rule.fix } = error
  return { outcome: 'fail', severity, got: shown(service, message), fix: shown(service, fix) }
}

const shown = ({ secrets }: Service, text: string): string => escape(secrets.mask(text))

/** Tries the rules one after the other, until the service's signal ends the run. */
export async function runRules (
  service: Service, rules: readonly Rule[], watch: Watch = () => {}
): Promise<Run> {
  const findings: Finding[] = []
  for (const [at, rule] of rules.entries()) {
    watch(rule, at + 1, rules.length)
    const finding = blocked(rule, findings) ?? await runRule(service, rule)
    if (finding.error instanceof Stop) {
      return {
        findings: [...findings, ...notReached(rules, at)],
        stopped: shown(service, finding.error.message)
      }
    }
    findings.push(finding)
    if (isSilent(findings)) break
  }
  const errors = findings.flatMap(({ error }) =>
    error instanceof Inconclusive ? [error.sentence] : [])
  if (errors.length === 0) return { findings }
  const why = isSilent(findings)
    ? `The service no longer responds: ${errors.at(-1)}`
    : `The check is not complete: ${errors[0]}`
  return {
    findings: [...findings, ...notReached(rules, findings.length)], stopped: shown(service, why)
  }
}

/** The rules from this one on, which a run that has ended did not try. */
function notReached (rules: readonly Rule[], from: number): Finding[] {
  const result: Result = { outcome: 'untested', reason: 'the check ended before' }
  return rules.slice(from).map((rule) => ({ rule, result, milliseconds: 0 }))
}

/** The finding on a rule that is not tried, because another one fails or could not be judged. */
function blocked (rule: Rule, findings: readonly Finding[]): Finding | null {
  const cause = findings.find(({ rule: { id }, result, error }) =>
    rule.after?.includes(id) === true && (result.outcome === 'fail' || error !== undefined))
  if (cause === undefined) return null
  const reason = `${cause.rule.id} ${cause.error === undefined ? 'fails' : 'could not be judged'}`
  return { rule, result: { outcome: 'untested', reason }, milliseconds: 0 }
}

/** Whether none of the last rules that were tried could be judged. */
function isSilent (findings: readonly Finding[]): boolean {
  const tried = findings.filter(({ result, error }) =>
    result.outcome !== 'untested' || error !== undefined)
  const last = tried.slice(-MOST_INCONCLUSIVE)
  return last.length === MOST_INCONCLUSIVE && last.every(({ error }) => error !== undefined)
}
