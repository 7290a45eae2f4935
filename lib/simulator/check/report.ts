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
 * The report for people: what fails and what is advice; the rules that pass; the rules that were not
 * tested, and what they need; the counts.
 */
export function text (run: Run): string {
  const { passed, failed, advice, untested } = summary(run)
  return [
    ...those(run, 'fail').map(block),
    ...those(run, 'advice').map(block),
    ...those(run, 'pass').map(({ id, sentence }) => `pass      ${id}: ${sentence}`),
    ...untestedLines(run),
    `\n${passed} pass, ${failed} fail, ${advice} advice, ${untested} untested.\n`
  ].join('\n')
}

/** A line for each reason, with the rules that were not tested because of it. */
function untestedLines (run: Run): string[] {
  const rules = new Map<string, string[]>()
  for (const { id, reason } of those(run, 'untested')) {
    const needed = String(reason)
    rules.set(needed, [...rules.get(needed) ?? [], id])
  }
  return [...rules].map(([reason, ids]) => `untested  ${ids.join(', ')}: ${reason}`)
}

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
