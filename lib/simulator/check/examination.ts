import { fixFor } from '../../testing/failure.ts'
import { type Bench, NoAnswer } from './rules/bench.ts'
import { type Rule, type Severity, type Verdict } from './rules/rule.ts'
import { Inconclusive, Stop, Untested } from './rules/untested.ts'

/** A rule, its result, and how long it took. */
export interface Finding {
  rule: Rule
  /** The rule's severity, or a milder one where this finding is less certain. */
  severity: Severity
  verdict: Verdict
  milliseconds: number
}

/** What an examination found; `stopped` says why it is not complete. */
export interface Examination {
  findings: Finding[]
  stopped?: string
}

export interface Watch {
  /** Called before a rule is tried. */
  begins: (rule: Rule, number: number, total: number) => void
  /** Called when no more rule is tried. */
  ends: () => void
}

/** After so many rules in a row without an answer that can be judged, the examination ends. */
const MOST_UNANSWERED = 3

/** Tries the rules one after the other, until the bench's signal ends the check. */
export async function examine (bench: Bench, rules: readonly Rule[], watch: Watch): Promise<Examination> {
  const findings: Finding[] = []
  const end = ended(bench.signal)
  const unclear: Inconclusive[] = []
  let inARow = 0
  const finish = (stopped?: string): Examination => {
    watch.ends()
    return { findings, ...(stopped === undefined ? {} : { stopped: bench.secrets.mask(stopped) }) }
  }
  for (const [at, rule] of rules.entries()) {
    watch.begins(rule, at + 1, rules.length)
    const tried = await tryOut(bench, rule, findings, end)
    if (bench.signal.aborted) return finish(String((bench.signal.reason as Error).message))
    if (tried instanceof Stop) return finish(tried.message)
    findings.push(tried.finding)
    if (tried.unclear === undefined) {
      if (tried.finding.verdict.outcome !== 'untested') inARow = 0
      continue
    }
    unclear.push(tried.unclear)
    inARow += 1
    if (inARow === MOST_UNANSWERED) return finish(`The service no longer answers: ${sentenceOf(tried.unclear)}`)
  }
  const [first] = unclear
  return finish(first === undefined ? undefined : `The check is not complete: ${sentenceOf(first)}`)
}

function sentenceOf (error: Error): string {
  return `${error.message}.${error instanceof NoAnswer ? ` ${fixFor(error.trouble.code)}` : ''}`
}

interface Tried { finding: Finding, unclear?: Inconclusive }

async function tryOut (
  bench: Bench, rule: Rule, findings: readonly Finding[], end: Promise<never>
): Promise<Tried | Stop> {
  const start = performance.now()
  const finding = (verdict: Verdict): Finding => {
    const severity = (verdict.outcome === 'fail' ? verdict.severity : undefined) ?? rule.severity
    return { rule, severity, verdict, milliseconds: Math.round(performance.now() - start) }
  }
  const cause = findings.find(({ rule: { id }, verdict }) => verdict.outcome === 'fail' && rule.after?.includes(id))
  if (cause !== undefined) return { finding: finding({ outcome: 'untested', reason: `${cause.rule.id} fails` }) }
  try {
    return { finding: finding(await Promise.race([rule.test(bench), end])) }
  } catch (error) {
    if (error instanceof Stop) return error
    const reason = bench.secrets.mask(error instanceof Untested ? error.message : `the check failed: ${String(error)}`)
    const untested = finding({ outcome: 'untested', reason })
    if (error instanceof Inconclusive || !(error instanceof Untested)) {
      return { finding: untested, unclear: error instanceof Inconclusive ? error : new Inconclusive(reason) }
    }
    return { finding: untested }
  }
}

/** Rejects when the check ends, also within a rule. */
function ended (signal: AbortSignal): Promise<never> {
  const end = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  end.catch(() => {})
  return end
}
