// The in-process store with as many live records as it has by default: what each takes, and that they expire without
// a stall.
import { randomFillSync } from 'node:crypto'
import { existsSync, openSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { ExpiringRecords } from '../../lib/stores/expiring-records.ts'

/** The default of memoryLimit. */
const LIMIT = 100_000
/** Milliseconds that the event loop may be held up. */
const STALL = 10

const random = randomFillSync(Buffer.alloc(1 << 20))
let texts = 0

t.test('at most the limit, the oldest goes, and some 500 bytes for each record', async (t) => {
  const records = new ExpiringRecords(LIMIT)
  t.teardown(() => records.clear())
  const before = heapUsed()
  fill(records)
  const bytes = (heapUsed() - before) / LIMIT
  t.ok(bytes < 700, `${bytes.toFixed(0)} bytes each, 360 of them its value`)

  records.set('one more', 'value', 90)
  t.equal(records.size, LIMIT, 'no more than the limit')
  t.equal(records.get(key(0)), undefined, 'the oldest is gone')
  t.ok(records.get(key(1)), 'the next is not')

  records.clear()
  const left = heapUsed() - before
  t.ok(left < 10e6, `the memory is given back: ${(left / 1e6).toFixed(1)} MB are left`)
})

t.test('all records expire at once, and nobody asks for any: all are dropped, and nothing stalls', async (t) => {
  const records = new ExpiringRecords(LIMIT)
  t.teardown(() => records.clear())
  // Whoever shares the machine can make one round look bad; a stall of ours would be there every time.
  let worst = Infinity
  for (let round = 0; round < 3 && worst >= STALL; round++) {
    fill(records)
    // What the filling has left behind is not measured.
    heapUsed()
    const restore = setClock(121_000)
    worst = await longestStall(() => records.size === 0)
    restore()
    t.equal(records.size, 0, 'all of them are dropped')
  }
  t.ok(worst < STALL, `held up for at most ${worst.toFixed(1)} ms`)
})

t.test('what is over is over before it is dropped, and can be stored again', async (t) => {
  const records = new ExpiringRecords(10)
  t.teardown(() => records.clear())
  records.set('a', 'first', 60)
  records.set('a', 'second', 120)
  t.equal(records.size, 1)
  t.equal(records.get('a'), 'second')
  const restore = setClock(61_000)
  t.equal(records.get('a'), 'second', 'the lifetime is that of the last')
  restore()
  const restoreLater = setClock(121_000)
  t.equal(records.get('a'), undefined)
  t.equal(records.size, 1)
  records.set('a', 'third', 60)
  t.equal(records.get('a'), 'third')
  t.equal(records.size, 1)
  restoreLater()
})

function fill (records: ExpiringRecords): void {
  for (let count = 0; count < LIMIT; count++) records.set(key(count), sealedText(), count % 2 === 0 ? 60 : 120)
}

function key (count: number): string {
  return count.toString(36).padStart(22, '-')
}

/** As long as the sealed record of a user. */
function sealedText (): string {
  const start = texts++ * 7919 % (random.length - 270)
  return random.toString('base64', start, start + 270)
}

function heapUsed (): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/**
 * The longest that the event loop is held up until the condition comes true, in milliseconds. On a busy machine others
 * have the processor meanwhile: what counts is the time that this thread has it.
 */
async function longestStall (over: () => boolean): Promise<number> {
  const onProcessor = processorClock()
  let longest = 0
  for (let last = onProcessor(), end = Date.now() + 60_000; !over() && Date.now() < end;) {
    await sleep(1)
    const now = onProcessor()
    longest = Math.max(longest, now - last)
    last = now
  }
  return longest
}

/** Milliseconds that the main thread has run; where the system does not tell, those that have passed. */
function processorClock (): () => number {
  const path = `/proc/${process.pid}/task/${process.pid}/schedstat`
  if (!existsSync(path)) return () => Number(process.hrtime.bigint()) / 1e6
  const file = openSync(path, 'r')
  const text = Buffer.alloc(32)
  return () => parseInt(text.toString('latin1', 0, readSync(file, text, 0, 32, 0))) / 1e6
}

/** Sets the clock forward; the result sets it back. */
function setClock (milliseconds: number): () => void {
  const { now } = performance
  performance.now = () => now.call(performance) + milliseconds
  return () => { performance.now = now }
}
