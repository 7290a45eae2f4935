// The report for people, word for word: what fails, then advice, what was not tested, what passes, the counts.
import t from 'tap'
import type { Finding, Run } from '../../lib/check/run.ts'
import { text } from '../../lib/simulator/check/report.ts'

const finding = (id: string, outcome: Finding['outcome'], more: Partial<Finding> = {}): Finding =>
  ({ id, group: 'store', severity: 'must', sentence: `The rule of ${id}.`, outcome, ...more })

const failure = finding('a.failure', 'fail', { got: 'a page', fix: 'Mend it.', reason: 'code_unknown' })
const runOf = (...rules: Finding[]): Run => ({ ok: false, rules })

t.test('in colour', async (t) => {
  const run = runOf(
    finding('an.advice', 'advice', { got: '200', fix: 'Better so.' }), failure, finding('a.pass', 'pass'),
    ...[1, 2].map((number) => finding(`needs.${number}`, 'untested', { reason: 'it needs a second user' })),
    finding('token.race', 'pass'), finding('later', 'untested', { reason: 'a.failure fails' })
  )
  t.equal(text(run, 60, true), [
    '\x1b[31mFAIL\x1b[39m a.failure',
    '  \x1b[1mrule\x1b[22m Does the store keep its promises? The rule of',
    '       a.failure.',
    '  \x1b[1mgot\x1b[22m  a page [reason: code_unknown]',
    '  \x1b[1mfix\x1b[22m  Mend it.',
    '',
    '\x1b[33madvice\x1b[39m an.advice',
    '  \x1b[1mrule\x1b[22m Does the store keep its promises? The rule of',
    '       an.advice.',
    '  \x1b[1mgot\x1b[22m  200',
    '  \x1b[1mfix\x1b[22m  Better so.',
    '',
    'untested  needs.1: it needs a second user',
    'untested  needs.2: it needs a second user',
    'pass      a.pass: The rule of a.pass.',
    '',
    '\x1b[31m2 pass (1 about the plugin itself), 1 fail, 1 advice, 3\x1b[39m',
    'untested.',
    'Not tested: 3, since it needs a second user; a.failure',
    'fails.',
    ''
  ].join('\n'))
})

t.test('nothing fails, everything is tested', async (t) => {
  t.equal(text(runOf(finding('a', 'pass')), 100, true), [
    'pass      a: The rule of a.',
    '',
    '\x1b[32m1 pass (0 about the plugin itself), 0 fail, 0 advice, 0 untested.\x1b[39m',
    ''
  ].join('\n'))
})
