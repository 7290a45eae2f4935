// Shows that no test fails by chance: runs the tests, or some files, again and again beside processes that keep the
// processors busy.
//
//   node test/repeat.js [--times 20] [--burn 2] [test/faults ...]
//
// Before the whole suite, and before the tests of the package and the examples: node test/setup.js.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'

const { values: { times, burn, burner }, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    burn: { type: 'string', default: '2' },
    burner: { type: 'boolean', default: false }
  }
})

// A process that we have started to keep a processor busy. It ends with us.
if (burner) {
  process.once('disconnect', () => process.exit())
  for (;;) {
    for (let last = performance.now() + 50; performance.now() < last;);
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const burners = Array.from({ length: Number(burn) }, () => fork(import.meta.filename, ['--burner']))
let failed = 0
for (let round = 1; round <= Number(times); round++) {
  console.log(`\nround ${round}`)
  const command = positionals.length > 0 ? ['node', 'test/only.js'] : ['npx', 'tap', '--disable-coverage']
  const [code] = await once(spawn('env', [...command, ...positionals], { stdio: 'inherit' }), 'exit')
  if (code !== 0) failed++
}
for (const burner of burners) burner.disconnect()
console.log(`\n${times} rounds, ${failed} with a failure`)
process.exitCode = failed === 0 ? 0 : 1
