// What failed, in full; at the end one line with the counts.
import { Min } from '@tapjs/reporter'

export default function Counts ({ test, config }) {
  process.once('exit', (code) => {
    const { pass, fail } = test.counts
    // Nothing of it is a test where the coverage of lib is not complete.
    console.log(`\n${pass} passed, ${fail === 0 && code !== 0 ? 1 : fail} failed`)
  })
  return Min({ test, config })
}
