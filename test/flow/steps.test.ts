// The fifteen steps before anything has happened.
import t from 'tap'
import { stepsOf } from '../../lib/flow/steps.ts'

t.test('none is done before the browser was sent', async (t) => {
  const steps = stepsOf({ exchanges: [], failure: null })
  t.strictSame(steps.map(({ number }) => number), Array.from({ length: 15 }, (_none, at) => at + 1))
  t.strictSame(new Set(steps.map(({ outcome }) => outcome)), new Set(['waiting']))
})
