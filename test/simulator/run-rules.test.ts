// How rules are tried: when a run ends, what counts as not tried, and that no reason has a secret in it.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { summary } from '../../lib/simulator/check/report.ts'
import { Failed, Inconclusive, Stop, Untested } from '../../lib/simulator/rules/errors.ts'
import { oneWinner } from '../../lib/simulator/rules/races.ts'
import type { Rule } from '../../lib/simulator/rules/rule.ts'
import type { Run } from '../../lib/simulator/rules/run-rules.ts'
import { runRules } from '../../lib/simulator/rules/run-rules.ts'
import type { Service } from '../../lib/simulator/rules/service.ts'
import { Secrets } from '../../lib/flow/masking.ts'

const HIDDEN = '••••••••'

/** Tries rules of which only the test counts. */
async function tried (tests: Array<Rule['test']>, signal = new AbortController().signal): Promise<Run> {
  const secrets = new Secrets()
  secrets.add('the-secret')
  const rules = tests.map((test, index): Rule =>
    ({ id: `rule.${index}`, section: '', severity: 'must', sentence: 'It works.', fix: 'Mend it.', test }))
  return await runRules({ secrets, signal } as unknown as Service, rules)
}

const passes = async (): Promise<void> => {}
const throws = (error: Error) => async (): Promise<never> => { throw error }

await t.test('a rule that throws at the deadline is untested, and the run ends', async (t) => {
  const deadline = new AbortController()
  const late = async (): Promise<never> => {
    deadline.abort(new Error('the-secret took too long'))
    throw new Failed('no response')
  }
  const { findings, stopped } = await tried([late], deadline.signal)
  t.equal(stopped, `${HIDDEN} took too long`)
  t.match(findings, [{ result: { outcome: 'untested', reason: 'the check ended before' } }])
})

await t.test('a rule that throws something unexpected was not tried', async (t) => {
  const { findings, stopped } = await tried([throws(new Error('the-secret')), passes])
  const reason = `the check failed: Error: ${HIDDEN}`
  t.match(findings.map(({ result }) => result), [{ outcome: 'untested', reason }, { outcome: 'pass' }])
  t.match(stopped, `The check is not complete: ${reason}`)
})

await t.test('a failure says what was got and what to do, masked and escaped', async (t) => {
  const { findings } = await tried([
    throws(new Failed('the-secret\x1b[2J')), throws(new Failed('200', 'Hide the-secret\u202e.', 'should'))
  ])
  t.strictSame(findings.map(({ result }) => result), [
    { outcome: 'fail', severity: 'must', got: `${HIDDEN}\\u001b[2J`, fix: 'Mend it.' },
    { outcome: 'fail', severity: 'should', got: '200', fix: `Hide ${HIDDEN}\\u202e.` }
  ])
})

await t.test('three inconclusive rules in a row end the run; one not tried does not count', async (t) => {
  const inconclusive = throws(new Inconclusive('no response'))
  const untested = throws(new Untested('nobody is logged in'))
  const { findings, stopped } = await tried([inconclusive, untested, inconclusive, inconclusive, passes])
  t.match(findings.map(({ result }) => result), [
    { reason: 'no response' }, { reason: 'nobody is logged in' }, { reason: 'no response' }, { reason: 'no response' },
    { outcome: 'untested', reason: 'the check ended before' }
  ])
  t.equal(stopped, 'The service no longer responds: no response.')
  const between = await tried([inconclusive, passes, inconclusive, inconclusive, passes])
  t.equal(between.findings.length, 5, 'a rule in between that was judged')
  t.equal(between.stopped, 'The check is not complete: no response.')
})

await t.test('a stop ends the run at once, with its sentence; each rule is counted', async (t) => {
  const { findings, stopped } = await tried([passes, throws(new Stop('Nobody is the-secret.')), passes])
  t.equal(stopped, `Nobody is ${HIDDEN}.`)
  t.strictSame(findings.map(({ result: { outcome } }) => outcome), ['pass', 'untested', 'untested'])
})

await t.test('each result is counted once, as what it is', async (t) => {
  const untested = throws(new Untested('nobody is logged in'))
  const run = await tried([
    passes, untested, passes, throws(new Failed('200')), untested, untested,
    throws(new Failed('200', undefined, 'should')), throws(new Failed('302', undefined, 'should'))
  ])
  t.strictSame(summary(run), { passed: 2, failed: 1, advice: 2, untested: 3 })
})

await t.test('a race that only a request with a lead can win, since each replay revokes', async (t) => {
  let won = 0
  let waits = 0
  const wait = async () => {
    waits++
    for (let turns = 0; turns < 3; turns++) await turn()
  }
  const rule = oneWinner(async () => {
    let requests = 0
    return async () => {
      requests++
      await turn()
      if (requests === 1) won++
      return requests === 1
    }
  })
  await rule({ settings: { wait } } as unknown as Service)
  t.strictSame([won, waits], [1, 1])
})
