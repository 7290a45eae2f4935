import { wrap } from '../flags.ts'
import { type Examination, type Finding } from './examination.ts'

/** Counts of an examination. */
export interface Summary {
  passed: number
  /** Rules of severity `must` that do not hold. */
  failed: number
  /** Rules of severity `should` that do not hold. */
  advice: number
  untested: number
}

export type Paint = (colour: 'green' | 'red' | 'yellow' | 'dim' | 'bold', text: string) => string

const CODES = { green: 32, red: 31, yellow: 33, dim: 2, bold: 1 }

/** Colours for a terminal, or none. */
export const painter = (coloured: boolean): Paint => (colour, text) => coloured ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text

export function summary ({ findings }: Examination): Summary {
  const count = (outcome: string, severity?: string) =>
    findings.filter(({ rule, verdict }) => verdict.outcome === outcome && (severity === undefined || rule.severity === severity)).length
  return { passed: count('pass'), failed: count('fail', 'must'), advice: count('fail', 'should'), untested: count('untested') }
}

/** One word on a finding: `pass`, `FAIL`, `advice` or `untested`. */
export function word ({ rule, verdict }: Finding): string {
  if (verdict.outcome !== 'fail') return verdict.outcome
  return rule.severity === 'must' ? 'FAIL' : 'advice'
}

/** A finding's word in its colour, padded to the width of a column. */
export function paintedWord (finding: Finding, paint: Paint, width = 0): string {
  const colours = { pass: 'green', FAIL: 'red', advice: 'yellow', untested: 'dim' } as const
  const said = word(finding)
  return paint(colours[said as keyof typeof colours], said.padEnd(width))
}

/** The table for people: one row for each rule; where one does not hold, what came instead and how to mend it beneath. */
export function table (examination: Examination, width: number, paint: Paint): string {
  const { findings } = examination
  const ids = columnWidth(findings.map(({ rule }) => rule.id), 'RULE')
  const sections = columnWidth(findings.map(({ rule }) => rule.section), 'SECTION')
  const head = paint('bold', `${'RULE'.padEnd(ids)}${'SECTION'.padEnd(sections)}RESULT`)
  const rows = findings.map((finding) => row(finding, ids, sections, width, paint))
  return `${[head, ...rows, '', ...untested(findings, width), conclusion(examination, paint)].join('\n')}\n`
}

const columnWidth = (texts: string[], head: string): number => Math.max(head.length, ...texts.map((text) => text.length)) + 2

function row (finding: Finding, ids: number, sections: number, width: number, paint: Paint): string {
  const { rule, verdict } = finding
  const line = `${rule.id.padEnd(ids)}${paint('dim', rule.section.padEnd(sections))}${paintedWord(finding, paint)}`
  if (verdict.outcome !== 'fail') return line
  return [
    line,
    ...labelled('rule', rule.sentence, width, paint),
    ...labelled('got', verdict.got, width, paint),
    ...labelled('fix', verdict.fix ?? rule.fix, width, paint)
  ].join('\n')
}

function labelled (label: string, text: string, width: number, paint: Paint): string[] {
  return wrap(text, width - 9).map((line, at) => `  ${at === 0 ? paint('bold', label.padEnd(6)) : '      '} ${line}`)
}

/** Why rules were not tried, each reason once. */
function untested (findings: Finding[], width: number): string[] {
  const reasons = new Map<string, string[]>()
  for (const { rule, verdict } of findings) {
    if (verdict.outcome === 'untested') reasons.set(verdict.reason, [...reasons.get(verdict.reason) ?? [], rule.id])
  }
  return [...reasons].flatMap(([reason, ids]) => [...wrap(`Untested, because ${reason}: ${ids.join(', ')}.`, width), ''])
}

function conclusion (examination: Examination, paint: Paint): string {
  const { passed, failed, advice, untested } = summary(examination)
  const counts = [`${passed} pass`, `${failed} fail`, `${advice} to consider`, `${untested} untested`].join(', ')
  const verdict = failed === 0 ? paint('green', 'Nothing fails.') : paint('red', failed === 1 ? 'One rule fails.' : `${failed} rules fail.`)
  return `${counts}. ${examination.stopped ?? verdict}`
}

/** The report for machines. */
export function json (baseUrl: string, level: string, examination: Examination): string {
  const rules = examination.findings.map((finding) => {
    const { rule, verdict, milliseconds } = finding
    const { id, section, severity, sentence, fix } = rule
    const why = verdict.outcome === 'fail' ? { got: verdict.got, fix: verdict.fix ?? fix } : {}
    const reason = verdict.outcome === 'untested' ? { reason: verdict.reason } : {}
    return { id, section, severity, sentence, outcome: verdict.outcome, ...why, ...reason, milliseconds }
  })
  const stopped = examination.stopped === undefined ? {} : { stopped: examination.stopped }
  return `${JSON.stringify({ baseUrl, level, summary: summary(examination), ...stopped, rules }, null, 2)}\n`
}
