import { styleText } from 'node:util'
import { SANITY } from '../../check/rules.ts'
import { GROUPS } from '../../check/rule.ts'
import type { Finding, Run } from '../../check/run.ts'

const those = ({ rules }: Run, outcome: Finding['outcome']): Finding[] =>
  rules.filter((finding) => finding.outcome === outcome)

/** Counts. Advice fails and breaks nothing. */
export const summary = (run: Run) => ({
  passed: those(run, 'pass').length,
  failed: those(run, 'fail').length,
  advice: those(run, 'advice').length,
  untested: those(run, 'untested').length
})

/**
 * The report for people: what fails and what is advice; the rules about the app that were not
 * tested, and those that pass; the counts.
 */
export function text (run: Run, width: number, isColoured: boolean): string {
  const { passed, failed, advice, untested } = summary(run)
  const app = those(run, 'pass').filter(({ id }) => !SANITY.has(id))
  const sanity = passed - app.length
  const needs = new Set(those(run, 'untested').map(({ reason }) => reason))
  const lines = [
    ...[...those(run, 'fail'), ...those(run, 'advice')].map(block),
    // After a failure the others do not help.
    ...those(run, 'untested')
      .filter(({ reason }) => !/ fails$| ended /.test(String(reason)))
      .map(({ id, reason }) => `untested  ${id}: ${reason}`),
    ...app.map(({ id, sentence }) => `pass      ${id}: ${sentence}`),
    '',
    `${passed} pass (${sanity} about the plugin itself), ${failed} fail, ${advice} advice, ${untested} untested.`,
    untested === 0 ? '' : `Not tested: ${untested}, since ${[...needs].join('; ')}.`
  ]
  const plain = wrap(`${lines.join('\n').trim()}\n`, width)
  return isColoured ? paint(plain) : plain
}

const block = ({ id, group, outcome, sentence, got, fix, reason }: Finding): string =>
  [
    `${outcome === 'fail' ? 'FAIL' : outcome} ${id}`,
    `  rule ${GROUPS[group]} ${sentence}`,
    `  got  ${got}${reason === undefined ? '' : ` [reason: ${reason}]`}`,
    `  fix  ${fix}`,
    ''
  ].join('\n')

/** Breaks long lines at spaces, and within a word that is longer than a line. What follows is below the first words. */
const wrap = (report: string, width: number): string =>
  report.replace(/^( {2}\w+ +|\w+ {2,})?(.+)$/gm, (_line, label = '', words) => {
    const most = width - label.length
    const lines = words.match(new RegExp(`(?! ).{1,${most}}(?= |$)|(?! ).{${most}}`, 'gu'))
    return label + lines.join(`\n${' '.repeat(label.length)}`)
  })

const COLOURS = [
  ['red', /^(?:FAIL\b|\d+ pass.*, [1-9]\d* fail.*)/gm],
  ['green', /^\d+ pass.*, 0 fail.*/gm],
  ['yellow', /^advice\b/gm],
  ['bold', /(?<=^ {2})(?:rule|got|fix)/gm]
] as const

const paint = (report: string): string =>
  COLOURS.reduce(
    (painted, [colour, words]) =>
      painted.replace(words, (part) => styleText(colour, part, { validateStream: false })),
    report
  )
