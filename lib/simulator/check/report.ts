import { styleText } from 'node:util'
import { SANITY } from '../../check/rules.ts'
import { GROUPS } from '../../check/rule.ts'
import type { Finding, Run } from '../../check/run.ts'
import { escapeJson } from '../../flow/escape.ts'

/** Counts of a run. */
export interface Summary {
  passed: number
  failed: number
  /** What fails and breaks nothing. */
  advice: number
  untested: number
}

export type Paint = (colour: 'green' | 'red' | 'yellow' | 'bold', text: string) => string

/** Colours for a terminal, or none. */
export const painter =
  (coloured: boolean): Paint =>
    (colour, text) =>
      coloured ? styleText(colour, text, { validateStream: false }) : text

const those = ({ rules }: Run, outcome: Finding['outcome']): Finding[] =>
  rules.filter((finding) => finding.outcome === outcome)

export const summary = (run: Run): Summary => ({
  passed: those(run, 'pass').length,
  failed: those(run, 'fail').length,
  advice: those(run, 'advice').length,
  untested: those(run, 'untested').length
})

/**
 * The report for people: what fails and what is advice; the rules about the app that were not
 * tested, and those that pass; the plugin's own as a count; the verdict.
 */
export function text (run: Run, width: number, paint: Paint): string {
  const found = [...those(run, 'fail'), ...those(run, 'advice')].map((finding) =>
    block(finding, width, paint)
  )
  return `${[...found, list(run, width), conclusion(run, width, paint)].filter((part) => part !== '').join('\n\n')}\n`
}

function block (
  { id, group, outcome, sentence, got = '', fix = '', reason = '' }: Finding,
  width: number,
  paint: Paint
): string {
  const word = outcome === 'fail' ? paint('red', 'FAIL') : paint('yellow', 'advice')
  return [
    `${word} ${id}`,
    ...labelled('rule', `${GROUPS[group]} ${sentence}`, width, paint),
    ...labelled('got', reason === '' ? got : `${got} [reason: ${reason}]`, width, paint),
    ...labelled('fix', fix, width, paint)
  ].join('\n')
}

function labelled (label: string, sentence: string, width: number, paint: Paint): string[] {
  return wrap(sentence, width - 7).map(
    (line, at) => `  ${at === 0 ? paint('bold', label.padEnd(4)) : '    '} ${line}`
  )
}

/** A line for each rule about the app that was not tested or passes. After a failure those do not help. */
function list (run: Run, width: number): string {
  const isOwn = ({ id }: Finding): boolean => SANITY.has(id)
  const untested = those(run, 'untested')
    .filter(({ reason }) => !/ fails$| ended /.test(String(reason)))
    .map(({ id, reason }) => `untested  ${id}: ${reason}`)
  const passed = those(run, 'pass')
    .filter((finding) => !isOwn(finding))
    .map(({ id, sentence }) => `pass      ${id}: ${sentence}`)
  const own = those(run, 'pass').filter(isOwn).length
  const sanity = own === 0 ? [] : [`pass      ${own} rules about the plugin itself`]
  return [...untested, ...passed, ...sanity].flatMap((line) => wrap(line, width, ' '.repeat(10))).join('\n')
}

function conclusion (run: Run, width: number, paint: Paint): string {
  const { passed, failed, advice, untested } = summary(run)
  const verdict =
    failed === 0 ? 'Nothing fails.' : `${failed === 1 ? 'One rule fails' : `${failed} rules fail`}.`
  const needs = [...new Set(those(run, 'untested').map(({ reason }) => reason))].join('; ')
  return [
    `${passed} pass, ${failed} fail, ${advice} advice, ${untested} untested.`,
    paint(failed === 0 ? 'green' : 'red', verdict),
    ...(untested === 0
      ? []
      : wrap(`${untested === 1 ? 'One rule was' : `${untested} rules were`} not tested: ${needs}.`, width))
  ].join('\n')
}

/** The report for machines. Its members are stable; others may be added. */
export const json = (run: Run): string =>
  `${escapeJson(JSON.stringify({ summary: summary(run), rules: run.rules, stopped: run.stopped }, null, 2))}\n`

/**
 * Breaks a text into lines of at most the width: at spaces, and within a word that is longer than a
 * line.
 */
function wrap (text: string, width: number, indent = ''): string[] {
  const most = width - indent.length
  const parts = text.matchAll(new RegExp(`(?! ).{1,${most}}(?= |$)|(?! ).{${most}}`, 'gsu'))
  const [first = '', ...rest] = Array.from(parts, ([part]) => part)
  return [first, ...rest.map((line) => `${indent}${line}`)]
}
