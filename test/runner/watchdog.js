// Loaded before the test files of a process. A test that hangs fails, and what a test has left open does not keep the
// process from its end. Neither depends on the clocks that tests move: these timers are set before.
import t from 'tap'

/** Seconds without a result: no assertion of any test takes so long on the busiest machine. */
const SILENT = 120
/** Seconds without a result when every test is over. */
const OVER = 10

let last = process.hrtime.bigint()
const seconds = () => Number(process.hrtime.bigint() - last) / 1e9

const { write } = process.stdout
process.stdout.write = (...given) => {
  last = process.hrtime.bigint()
  return write.apply(process.stdout, given)
}

const { setTimeout } = globalThis
let isLoaded = false

/** Every test file of the process has begun its tests. */
export function loaded () {
  isLoaded = true
  last = process.hrtime.bigint()
}

function end (why) {
  t.fail(`${why}, with ${[...new Set(process.getActiveResourcesInfo())].join(', ')}`)
  // tap's way for a time limit: it ends each test that is under way, with its teardown.
  t.endAll()
  setTimeout(() => process.exit(1), OVER * 500).unref()
}

const watch = setInterval(() => {
  const isOver = isLoaded && t.idle
  if (seconds() < (isOver ? OVER : SILENT)) return
  clearInterval(watch)
  end(isOver ? 'every test is over, and something is open' : `no result for ${SILENT} seconds`)
}, 1000).unref()
