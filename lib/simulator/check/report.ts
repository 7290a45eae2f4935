import { styleText } from 'node:util'
import { escapeJson } from '../../flow/escape.ts'
import type { Caused } from './caused.ts'
import { causedText } from './caused.ts'
import type { Result } from '../rules/rule.ts'
import type { Finding, Run } from '../rules/run-rules.ts'

/** Counts of a run. */
export interface Summary {
  passed: number
  /** Failed rules of severity `must`. */
  failed: number
  /** Failed rules of severity `should`. */
  advice: number
  untested: number
}

export type Paint = (colour: 'green' | 'red' | 'yellow' | 'bold', text: string) => string

/** Colours for a terminal, or none. */
export const painter = (coloured: boolean): Paint => (colour, text) =>
  coloured ? styleText(colour, text, { validateStream: false }) : text

export function summary ({ findings }: Run): Summary {
  const count = (word: string): number =>
    findings.filter((finding) => wordOf(finding) === word).length
  return {
    passed: count('pass'),
    failed: count('FAIL'),
    advice: count('advice'),
    untested: count('untested')
  }
}

/** One word on a finding: `pass`, `FAIL`, `advice` or `untested`. */
function wordOf ({ result }: Finding): 'pass' | 'FAIL' | 'advice' | 'untested' {
  if (result.outcome !== 'fail') return result.outcome
  return result.severity === 'must' ? 'FAIL' : 'advice'
}

/** A run, and the refusals that it caused at the service. */
export type Report = Run & { caused: Caused }

/**
 * The report for people: what fails, then advice, then the refusals that the check caused, then the
 * counts, then what was not tested and why.
 */
export function text (run: Report, width: number, paint: Paint): string {
  const { findings, caused } = run
  const failures = ['FAIL', 'advice'].flatMap((word) =>
    findings.filter((finding) => wordOf(finding) === word))
  const blocks = [
    ...failures.map((finding) => block(finding, width, paint)),
    wrap(causedText(caused), width).join('\n'),
    conclusion(run, width, paint)
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function block (finding: Finding, width: number, paint: Paint): string {
  const { rule, result } = finding
  const said = wordOf(finding)
  const [head, ...rest] = wrap(`${said} ${rule.id} (${rule.section})`, width)
  const { got, fix } = result as Extract<Result, { outcome: 'fail' }>
  return [
    String(head).replace(said, paint(said === 'FAIL' ? 'red' : 'yellow', said)),
    ...rest,
    ...labelled('rule', rule.sentence, width, paint),
    ...labelled('got', got, width, paint),
    ...labelled('fix', fix, width, paint)
  ].join('\n')
}

function labelled (label: string, sentence: string, width: number, paint: Paint): string[] {
  return wrap(sentence, width - 7).map((line, at) =>
    `  ${at === 0 ? paint('bold', label.padEnd(4)) : '    '} ${line}`)
}

/** What was not tested and why, each reason once. */
function untestedRules (findings: Finding[]): string {
  const reasons = new Map<string, string[]>()
  for (const { rule, result } of findings) {
    if (result.outcome === 'untested') {
      reasons.set(result.reason, [...reasons.get(result.reason) ?? [], rule.id])
    }
  }
  return [...reasons].map(([reason, ids]) => `${named(ids)} (${reason})`).join(', ')
}

const named = (ids: string[]): string => ids.length > 3 ? `${ids.length} rules` : ids.join(', ')

function conclusion (run: Run, width: number, paint: Paint): string {
  const { passed, failed, advice, untested } = summary(run)
  const counts = `${passed} pass, ${failed} fail, ${advice} to consider, ${untested} untested.`
  const lines = [counts, run.stopped ?? ''].flatMap((sentence) => wrap(sentence, width))
  if (failed > 0 || run.stopped === undefined) {
    const verdict = failed === 0 ? 'Nothing fails.' : `${numberOf(failed, 'fails', 'fail')}.`
    lines.push(paint(failed === 0 ? 'green' : 'red', verdict))
  }
  if (untested > 0) {
    const many = numberOf(untested, 'was not tested', 'were not tested')
    lines.push(...wrap(`${many}: ${untestedRules(run.findings)}.`, width))
  }
  return lines.join('\n')
}

function numberOf (count: number, one: string, several: string): string {
  return count === 1 ? `One rule ${one}` : `${count} rules ${several}`
}

/** The report for machines. Its members are stable; others may be added. */
export function json (baseUrl: string, level: string, run: Report): string {
  const rules =
    run.findings.map(({ rule: { id, section, severity, sentence }, result, milliseconds }) =>
      ({ id, section, severity, sentence, ...result, milliseconds }))
  const report = {
    baseUrl, level, summary: summary(run), caused: run.caused, stopped: run.stopped, rules
  }
  return `${escapeJson(JSON.stringify(report, null, 2))}\n`
}

/**
 * Breaks a text into lines of at most the width: at spaces, and within a word that is longer than a
 * line.
 */
const wrap = (text: string, width: number): string[] =>
  text.match(new RegExp(`(?! ).{1,${width}}(?= |$)|(?! ).{${width}}`, 'gsu')) ?? []
