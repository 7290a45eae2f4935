import { GROUPS } from '../../check/rule.ts'
import { RULES } from '../../check/rules.ts'
import type { Finding, Run } from '../../check/run.ts'

/** Rules about the plugin more than about the app: where they pass they are only counted. */
const SANITY = RULES.filter(({ isSanity }) => isSanity).map(({ id }) => id)

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
export function text (run: Run): string {
  const { passed, failed, advice, untested } = summary(run)
  const app = those(run, 'pass').filter(({ id }) => !SANITY.includes(id))
  const needs = new Set(those(run, 'untested').map(({ reason }) => reason))
  const lines = [
    ...those(run, 'fail').map(block),
    ...those(run, 'advice').map(block),
    // After a failure the others do not help.
    ...those(run, 'untested')
      .filter(({ reason }) => !/ fails$| ended /.test(String(reason)))
      .map(({ id, reason }) => `untested  ${id}: ${reason}`),
    ...app.map(({ id, sentence }) => `pass      ${id}: ${sentence}`),
    `\n${passed} pass (${passed - app.length} about the plugin itself), ` +
      `${failed} fail, ${advice} advice, ${untested} untested.`
  ]
  if (untested > 0) lines.push(`Not tested: ${untested}, since ${[...needs].join('; ')}.`)
  return `${lines.join('\n')}\n`
}

const block = ({ id, group, outcome, sentence, got, fix, reason }: Finding): string => `\
${outcome === 'fail' ? 'FAIL' : 'advice'} ${id}
  rule ${GROUPS[group]} ${sentence}
  got  ${got}${reason === undefined ? '' : ` [reason: ${reason}]`}
  fix  ${fix}
`
