import { GROUPS } from '../../check/rule.ts'
import type { Finding, Run } from '../../check/run.ts'

const those = ({ rules }: Run, outcome: Finding['outcome']) =>
  rules.filter((finding) => finding.outcome === outcome)

/** Counts. Advice fails and breaks nothing. */
export const summary = (run: Run) => ({
  passed: those(run, 'pass').length,
  failed: those(run, 'fail').length,
  advice: those(run, 'advice').length,
  untested: those(run, 'untested').length
})

/**
 * The report for people: what fails and what is advice; where nothing fails, the rules that were not
 * tested; the rules about the app that pass; the counts.
 */
export function text (run: Run) {
  const { passed, failed, advice, untested } = summary(run)
  const open = those(run, 'untested')
  const needs = new Set(open.map(({ reason }) => reason))
  return [
    ...those(run, 'fail').map(block),
    ...those(run, 'advice').map(block),
    ...failed > 0 ? [] : open.map(line),
    ...those(run, 'pass').map(line),
    `\n${passed} pass, ${failed} fail, ${advice} advice, ${untested} untested.`,
    `Not tested: ${[untested, ...needs].join('; ')}.\n`
  ].join('\n')
}

const line = ({ outcome, id, sentence, reason }: Finding) =>
  `${outcome.padEnd(9)} ${id}: ${reason ?? sentence}`

const block = ({
  id,
  group,
  outcome,
  sentence,
  got,
  fix,
  reason
}: Finding): string => `\
${outcome === 'fail' ? 'FAIL' : 'advice'} ${id}
  rule ${GROUPS[group]} ${sentence}
  got  ${got}${reason === undefined ? '' : ` [reason: ${reason}]`}
  fix  ${fix}
`
