// Loaded before the test files of a process. A test that hangs fails, and what a test has left open does not keep the
// process from its end. Neither depends on the clocks that tests move: these timers are set before.
import t from 'tap'

/** Seconds without a result, of a process that waits: no assertion of any test takes so long. */
const SILENT = 120
/** Seconds of processor time since the last result: with more, it works, on a machine that is busy. */
const AT_WORK = 5
/** Seconds without a result, of a process that works: a client that reconnects for ever works too. */
const LONGEST = 600
/** Seconds without a result when every test is over. */
const OVER = 10

let last = process.hrtime.bigint()
let used = process.cpuUsage()
const seconds = () => Number(process.hrtime.bigint() - last) / 1e9
const isAtWork = () => process.cpuUsage(used).user > AT_WORK * 1e6

function restart () {
  last = process.hrtime.bigint()
  used = process.cpuUsage()
}

const { write } = process.stdout
/** Whether a result came since the last look: to read the processor's time at each took 15 % of a file's time. */
let isNews = false
process.stdout.write = (...given) => {
  isNews = true
  return write.apply(process.stdout, given)
}

const { setTimeout } = globalThis
let isLoaded = false

/** Every test file of the process has begun its tests. */
export function loaded () {
  isLoaded = true
  restart()
}

function end (why) {
  t.fail(`${why}, with ${[...new Set(process.getActiveResourcesInfo())].join(', ')}`)
  // tap's way for a time limit: it ends each test that is under way, with its teardown.
  t.endAll()
  setTimeout(() => process.exit(1), OVER * 500).unref()
}

const watch = setInterval(() => {
  if (isNews) restart()
  isNews = false
  const isOver = isLoaded && t.idle
  const bound = isOver ? OVER : isAtWork() ? LONGEST : SILENT
  if (seconds() < bound) return
  clearInterval(watch)
  end(isOver ? 'every test is over, and something is open' : `no result for ${bound} seconds`)
}, 1000).unref()
