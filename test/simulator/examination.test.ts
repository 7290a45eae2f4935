// How `check` tries rules: when it ends, what counts as not tried, and that no secret stands in the reasons.
import t from 'tap'
import { type Examination, examine } from '../../lib/simulator/check/examination.ts'
import { type Bench } from '../../lib/simulator/check/rules/bench.ts'
import { everyOf, fail, pass, type Rule, type Verdict } from '../../lib/simulator/check/rules/rule.ts'
import { summary } from '../../lib/simulator/check/report.ts'
import { Secrets } from '../../lib/testing/masking.ts'

const HIDDEN = '••••••••'

/** Tries rules of which only the test counts. */
async function tried (tests: Array<Rule['test']>, signal = new AbortController().signal): Promise<Examination> {
  const secrets = new Secrets()
  secrets.add('the-secret')
  const rules = tests.map((test, index) => ({ id: `rule.${index}`, severity: 'must', test }) as unknown as Rule)
  return await examine({ secrets, signal } as unknown as Bench, rules, { begins: () => {}, ends: () => {} })
}

await t.test('the deadline ends a rule that would never end', async (t) => {
  const deadline = new AbortController()
  const hangs = async (): Promise<Verdict> => {
    deadline.abort(new Error('the-secret took too long'))
    return await new Promise<never>(() => {})
  }
  t.strictSame(await tried([hangs], deadline.signal), { findings: [], stopped: `${HIDDEN} took too long` })
})

await t.test('a rule that throws was not tried', async (t) => {
  const throws = async (): Promise<never> => { throw new Error('the-secret') }
  const { findings, stopped } = await tried([throws, async () => pass])
  const reason = `the check failed: Error: ${HIDDEN}`
  t.match(findings.map(({ verdict }) => verdict), [{ outcome: 'untested', reason }, pass])
  t.match(stopped, `The check is not complete: ${reason}`)
})

await t.test('three rules in a row without an answer end the check; one not tried does not count', async (t) => {
  const throws = async (): Promise<never> => { throw new Error('no answer') }
  const untested = async (): Promise<Verdict> => ({ outcome: 'untested', reason: 'nobody is logged in' })
  const last = async (): Promise<Verdict> => pass
  const { findings, stopped } = await tried([throws, untested, throws, throws, last])
  t.equal(findings.length, 4)
  t.equal(stopped, 'The service no longer answers: the check failed: Error: no answer.')
  const answered = await tried([throws, last, throws, throws, last])
  t.equal(answered.findings.length, 5, 'a rule that was answered in between')
})

await t.test('each result is counted once, as what it is', async (t) => {
  const untested = async (): Promise<Verdict> => ({ outcome: 'untested', reason: 'nobody is logged in' })
  const examination = await tried([
    async () => pass, untested, async () => pass, async () => fail('200'), untested, untested,
    async () => fail('200', undefined, 'should'), async () => fail('302', undefined, 'should')
  ])
  t.strictSame(summary(examination), { passed: 2, failed: 1, advice: 2, untested: 3 })
})

await t.test('a rule of several cases passes when each passes', async (t) => {
  const untested: Verdict = { outcome: 'untested', reason: 'no answer' }
  const of = async (...verdicts: Verdict[]): Promise<Verdict> => await everyOf(verdicts, async (verdict) => verdict)
  t.strictSame(await of(pass, pass), pass)
  t.strictSame(await of(pass, untested, pass), untested)
  t.match(await of(pass, { outcome: 'fail', got: '200' }, untested), { outcome: 'fail' })
})
