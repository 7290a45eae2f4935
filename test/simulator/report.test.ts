// The report for people, word for word: what fails, then advice, what passes, what was not tested, the counts.
import t from 'tap'
import type { Finding, Run } from '../../lib/check/run.ts'
import { text } from '../../lib/simulator/check/report.ts'

const finding = (id: string, outcome: Finding['outcome'], more: Partial<Finding> = {}): Finding =>
  ({ id, group: 'store', severity: 'must', sentence: `The rule of ${id}.`, outcome, ...more })

const failure = finding('a.failure', 'fail', { got: 'a page', fix: 'Mend it.', reason: 'code_unknown' })
const untested = ['needs.1', 'needs.2'].map((id) => finding(id, 'untested', { reason: 'it needs a second user' }))
const runOf = (...rules: Finding[]): Run => ({ ok: false, rules })

t.test('each outcome', async (t) => {
  const run = runOf(
    finding('an.advice', 'advice', { got: '200', fix: 'Better so.' }), failure, finding('login.page', 'pass'),
    ...untested, finding('token.replay-revokes', 'pass'), finding('later', 'untested', { reason: 'a.failure fails' })
  )
  t.equal(text(run), [
    'FAIL a.failure',
    '  rule Does the store keep its promises? The rule of a.failure.',
    '  got  a page [reason: code_unknown]',
    '  fix  Mend it.',
    '',
    'advice an.advice',
    '  rule Does the store keep its promises? The rule of an.advice.',
    '  got  200',
    '  fix  Better so.',
    '',
    'pass      login.page: The rule of login.page.',
    'pass      token.replay-revokes: The rule of token.replay-revokes.',
    'untested  needs.1, needs.2: it needs a second user',
    'untested  later: a.failure fails',
    '',
    '2 pass, 1 fail, 1 advice, 3 untested.',
    ''
  ].join('\n'))
})

t.test('nothing fails', async (t) => {
  t.equal(text(runOf(finding('login.page', 'pass'), ...untested)), [
    'pass      login.page: The rule of login.page.',
    'untested  needs.1, needs.2: it needs a second user',
    '',
    '1 pass, 0 fail, 0 advice, 2 untested.',
    ''
  ].join('\n'))
})
