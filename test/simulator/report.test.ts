// The report for people, word for word: what fails, then advice, the counts, what was not tested and why.
import t from 'tap'
import type { Report } from '../../lib/simulator/check/report.ts'
import { painter, text } from '../../lib/simulator/check/report.ts'
import type { Result, Rule } from '../../lib/simulator/rules/rule.ts'
import type { Finding } from '../../lib/simulator/rules/run-rules.ts'

const finding = (id: string, result: Result): Finding => ({
  rule: { id, section: 'RFC 6749 §4.1', sentence: `The rule of ${id}.` } as Rule,
  result: result.outcome === 'fail' ? { ...result, fix: `Mend ${id}.` } : result,
  milliseconds: 1
})

const NONE = { from: '2026-01-02T03:04:05.006Z', to: '2026-01-02T03:04:07.008Z', refusals: {}, replayedCodes: 0 }
const SOME = { ...NONE, refusals: { 404: 1, invalid_client: 3, invalid_grant: 20 }, replayedCodes: 5 }

const pass: Result = { outcome: 'pass' }
const fail = (got: string, severity: Rule['severity'] = 'must'): Result =>
  ({ outcome: 'fail', severity, got, fix: '' })
const untested = (reason: string): Result => ({ outcome: 'untested', reason })

await t.test('in colour', (t) => {
  const run: Report = {
    caused: SOME,
    findings: [
      finding('a.advice', fail('200', 'should')),
      finding('a.failure', fail('a page')),
      finding('a.pass', pass),
      ...[1, 2, 3].map((number) => finding(`three.${number}`, untested('nobody is logged in'))),
      ...[1, 2, 3, 4].map((number) => finding(`four.${number}`, untested('there is no code')))
    ]
  }
  t.equal(text(run, 100, painter(true)), [
    '\x1b[31mFAIL\x1b[39m a.failure (RFC 6749 §4.1)',
    '  \x1b[1mrule\x1b[22m The rule of a.failure.',
    '  \x1b[1mgot \x1b[22m a page',
    '  \x1b[1mfix \x1b[22m Mend a.failure.',
    '',
    '\x1b[33madvice\x1b[39m a.advice (RFC 6749 §4.1)',
    '  \x1b[1mrule\x1b[22m The rule of a.advice.',
    '  \x1b[1mgot \x1b[22m 200',
    '  \x1b[1mfix \x1b[22m Mend a.advice.',
    '',
    'From 2026-01-02T03:04:05.006Z to 2026-01-02T03:04:07.008Z the check caused 24 refusals: 20',
    'invalid_grant, 3 invalid_client, 1 with status 404. It replayed 5 codes.',
    '',
    '1 pass, 1 fail, 1 to consider, 7 untested.',
    '\x1b[31mOne rule fails.\x1b[39m',
    '7 rules were not tested: three.1, three.2, three.3 (nobody is logged in), 4 rules (there is no',
    'code).',
    ''
  ].join('\n'))
  t.end()
})

await t.test('nothing fails, and the check was ended', (t) => {
  const findings = [finding('a.pass', pass)]
  t.equal(text({ findings, caused: NONE }, 100, painter(true)),
    '1 pass, 0 fail, 0 to consider, 0 untested.\n\x1b[32mNothing fails.\x1b[39m\n')
  t.equal(text({ findings, caused: NONE, stopped: 'It took too long.' }, 100, painter(false)),
    '1 pass, 0 fail, 0 to consider, 0 untested.\nIt took too long.\n')
  const failing = [finding('a', fail('')), finding('b', fail(''))]
  const ended = text({ findings: failing, caused: NONE, stopped: 'It took too long.' }, 100, painter(false))
  t.equal(ended.split('\n').slice(-4).join('\n'),
    '0 pass, 2 fail, 0 to consider, 0 untested.\nIt took too long.\n2 rules fail.\n')
  t.end()
})
