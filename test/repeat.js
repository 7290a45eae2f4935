// Shows that no test fails by chance: runs the suite, or some of its files, again and again, beside processes that keep
// the processors busy.
//
//   node test/repeat.js [--times 20] [--burn 2] [--jobs 2] [file or folder ...]
//
// Each round runs `jobs` files at once. Every round prints its counts and its time, and each failure in full.
// Build first (npm run build): some tests import the package by its name.
import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { compile } from './runner/compile.js'
import { processesOf, runFiles, testFiles } from './runner/tap.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    burn: { type: 'string', default: '2' },
    jobs: { type: 'string', default: '2' },
    burner: { type: 'boolean', default: false }
  }
})

// A process that we have started to keep a processor busy. It ends with us.
if (values.burner) {
  process.once('disconnect', () => process.exit())
  for (;;) {
    for (let last = performance.now() + 50; performance.now() < last;);
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const chosen = testFiles(positionals)
await compile()
const files = processesOf(chosen)
const { times, jobs, burn } = values
console.log(`${chosen.length} test files, ${times} times, ${jobs} at once, ${burn} busy processes beside`)
const burners = Array.from({ length: Number(values.burn) }, () => fork(import.meta.filename, ['--burner']))
let failedRounds = 0
for (let round = 1; round <= Number(values.times); round++) {
  const shown = []
  const begun = performance.now()
  const { pass, fail: failed } = await runFiles(Number(jobs), files, (line) => shown.push(line))
  const took = performance.now() - begun
  if (failed > 0) {
    failedRounds++
    console.log(shown.filter((line) => !line.startsWith('ok ')).join('\n'))
  }
  console.log(`round ${round}: ${pass} passed, ${failed} failed, ${(took / 1000).toFixed(0)} s`)
}
for (const burner of burners) burner.disconnect()
console.log(`\n${values.times} rounds, ${failedRounds} with a failure`)
process.exit(failedRounds === 0 ? 0 : 1)
