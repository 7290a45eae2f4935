import { readArrival, readToken, readUser } from '../../testing/answers.ts'
import { type Failure } from '../../testing/failure.ts'
import { authorizeUrl, randomText } from '../../testing/requests.ts'
import { type Bench, NoAnswer } from './rules/bench.ts'
import { fail, pass, type Rule, type Verdict } from './rules/rule.ts'

/** A rule, what came of it, and how long it took. */
export interface Finding {
  rule: Rule
  verdict: Verdict
  milliseconds: number
}

/** What an examination found; `stopped` says why it ended before its end. */
export interface Examination {
  findings: Finding[]
  stopped?: string
}

export interface Watch {
  /** Called before a rule is tried. */
  begins: (rule: Rule, number: number, total: number) => void
  /** Called with what came of it. */
  found: (finding: Finding, number: number, total: number) => void
}

/** So many rules in a row without any answer end the examination. */
const PATIENCE = 3

/** Tries the rules one after the other, until the deadline (a time of `performance.now()`). */
export async function examine (bench: Bench, rules: readonly Rule[], watch: Watch, deadline: number): Promise<Examination> {
  const findings: Finding[] = []
  let silent = 0
  let why = ''
  for (const [at, rule] of rules.entries()) {
    if (performance.now() > deadline) return { findings, stopped: 'The check took too long and was ended: --deadline gives it more time.' }
    watch.begins(rule, at + 1, rules.length)
    const { finding, answered } = await tryOut(bench, rule)
    findings.push(finding)
    watch.found(finding, at + 1, rules.length)
    if (finding.verdict.outcome === 'fail') why = finding.verdict.got
    if (!answered) silent += 1
    else if (finding.verdict.outcome !== 'untested') silent = 0
    if (silent === PATIENCE) return { findings, stopped: `The service no longer answers: ${why}` }
  }
  return { findings }
}

async function tryOut (bench: Bench, rule: Rule): Promise<{ finding: Finding, answered: boolean }> {
  const start = performance.now()
  const finding = (verdict: Verdict): Finding => ({ rule, verdict, milliseconds: Math.round(performance.now() - start) })
  try {
    return { finding: finding(await rule.test(bench)), answered: true }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof NoAnswer) return { finding: finding(fail(message)), answered: false }
    return { finding: finding({ outcome: 'untested', reason: bench.secrets.mask(message) }), answered: true }
  }
}

/** The rule that comes first: a whole sign-in. What it finds is kept for those who decide whether to go on. */
export class FirstSignIn implements Rule {
  readonly id = 'sign-in'
  readonly section = 'spec §1'
  readonly severity = 'must'
  readonly sentence = 'A user who is logged in gets through all fifteen steps.'
  readonly fix = 'Try the sign-in in the browser: partner-sso-portal serve shows every step.'
  failure: Failure | null = null

  async test (bench: Bench): Promise<Verdict> {
    this.failure = await signIn(bench)
    if (this.failure === null) return pass
    const { step, got, fix } = this.failure
    return fail(bench.secrets.mask(`step ${step}: ${got}`), fix)
  }
}

/** Walks through all steps; null when they succeed. */
async function signIn (bench: Bench): Promise<Failure | null> {
  const state = randomText()
  const verifier = bench.portal.pkce ? randomText() : undefined
  const code = readArrival(await bench.browser.open(authorizeUrl(bench.portal, state, verifier)), state, bench.portal)
  if (!code.ok) return code
  bench.secrets.add(code.value)
  const token = readToken(await bench.redeem({ code: code.value, verifier }))
  if (!token.ok) return token
  const user = readUser(await bench.user(token.value), bench.portal)
  return user.ok ? null : user
}
