// The report for people, word for word: what fails, then advice, what was not tested, what passes, the counts.
import t from 'tap'
import type { Finding, Run } from '../../lib/check/run.ts'
import { painter, text } from '../../lib/simulator/check/report.ts'

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
  t.equal(text(run, 60, painter(true)), [
    '\x1b[31mFAIL\x1b[39m a.failure',
    '  \x1b[1mrule\x1b[22m Does the store keep its promises? The rule of',
    '       a.failure.',
    '  \x1b[1mgot \x1b[22m a page [reason: code_unknown]',
    '  \x1b[1mfix \x1b[22m Mend it.',
    '',
    '\x1b[33madvice\x1b[39m an.advice',
    '  \x1b[1mrule\x1b[22m Does the store keep its promises? The rule of',
    '       an.advice.',
    '  \x1b[1mgot \x1b[22m 200',
    '  \x1b[1mfix \x1b[22m Better so.',
    '',
    'untested  needs.1: it needs a second user',
    'untested  needs.2: it needs a second user',
    'pass      a.pass: The rule of a.pass.',
    'pass      1 rules about the plugin itself',
    '',
    '2 pass, 1 fail, 1 advice, 3 untested.',
    '\x1b[31mOne rule fails.\x1b[39m',
    '3 rules were not tested: it needs a second user; a.failure',
    'fails.',
    ''
  ].join('\n'))
})

t.test('counts of one and of several', async (t) => {
  t.equal(text(runOf(finding('a', 'pass')), 60, painter(false)),
    'pass      a: The rule of a.\n\n1 pass, 0 fail, 0 advice, 0 untested.\nNothing fails.\n')
  t.match(text(runOf(failure, failure, finding('b', 'untested', { reason: 'it needs c' })), 60, painter(false)),
    '2 rules fail.\nOne rule was not tested: it needs c.\n')
})
