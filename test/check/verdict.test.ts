// Which of several verdicts on one rule counts: what keeps people out is never hidden by advice.
import t from 'tap'
import { advice, Fault, gravest, Untested } from '../../lib/check/verdict.ts'
import type { Verdict } from '../../lib/check/verdict.ts'

const fault = new Fault('it keeps people out')
const hint = advice('it breaks nothing')
const untested = new Untested('a second user')

const rows: Array<[verdicts: Verdict[], counts: Verdict]> = [
  [[hint, fault], fault],
  [[untested, hint, fault], fault],
  [[untested, null, hint], hint],
  [[null, untested], untested],
  [[null, null], null],
  [[], null]
]

t.test('a fault, then advice, then what is untested', async (t) => {
  for (const [verdicts, counts] of rows) t.equal(gravest(verdicts), counts, JSON.stringify(verdicts))
})
