// The report for people, word for word: what fails, then advice, then what was not tried and why, then the counts.
import t from 'tap'
import { type Examination, type Finding } from '../../lib/simulator/check/examination.ts'
import { painter, text } from '../../lib/simulator/check/report.ts'
import { fail, pass, type Rule, type Verdict } from '../../lib/simulator/check/rules/rule.ts'

const finding = (id: string, verdict: Verdict, severity: Rule['severity'] = 'must'): Finding => ({
  rule: { id, section: 'RFC 6749 §4.1', sentence: `The rule of ${id}.`, fix: `Mend ${id}.`, severity },
  severity,
  verdict
}) as unknown as Finding

const untested = (reason: string): Verdict => ({ outcome: 'untested', reason })

await t.test('in colour', (t) => {
  const examination: Examination = {
    findings: [
      finding('a.advice', fail('200'), 'should'),
      finding('a.failure', fail('a page')),
      finding('a.pass', pass),
      ...[1, 2, 3].map((number) => finding(`three.${number}`, untested('nobody is logged in'))),
      ...[1, 2, 3, 4].map((number) => finding(`four.${number}`, untested('there is no code')))
    ]
  } as Examination
  t.equal(text(examination, 100, painter(true)), [
    '\x1b[31mFAIL\x1b[0m a.failure (RFC 6749 §4.1)',
    '  \x1b[1mrule\x1b[0m The rule of a.failure.',
    '  \x1b[1mgot \x1b[0m a page',
    '  \x1b[1mfix \x1b[0m Mend a.failure.',
    '',
    '\x1b[33madvice\x1b[0m a.advice (RFC 6749 §4.1)',
    '  \x1b[1mrule\x1b[0m The rule of a.advice.',
    '  \x1b[1mgot \x1b[0m 200',
    '  \x1b[1mfix \x1b[0m Mend a.advice.',
    '',
    'Untested, because nobody is logged in: three.1, three.2, three.3.',
    '',
    'Untested, because there is no code: 4 rules.',
    '',
    '1 pass, 1 fail, 1 to consider, 7 untested.',
    '\x1b[31mOne rule fails.\x1b[0m',
    ''
  ].join('\n'))
  t.end()
})

await t.test('nothing fails, and the check was ended', (t) => {
  const findings = [finding('a.pass', pass)]
  t.equal(text({ findings } as unknown as Examination, 100, painter(true)),
    '1 pass, 0 fail, 0 to consider, 0 untested.\n\x1b[32mNothing fails.\x1b[0m\n')
  t.equal(text({ findings, stopped: 'It took too long.' }, 100, painter(false)),
    '1 pass, 0 fail, 0 to consider, 0 untested.\nIt took too long.\n')
  t.equal(text({ findings: [finding('a', fail('')), finding('b', fail(''))], stopped: 'It took too long.' }, 100,
    painter(false)).split('\n').slice(-4).join('\n'),
  '0 pass, 2 fail, 0 to consider, 0 untested.\nIt took too long.\n2 rules fail.\n')
  t.end()
})
