// The records of the in-process store, on a clock that the test sets.
import t, { type Test } from 'tap'
import { ExpiringRecords } from '../../lib/stores/expiring-records.ts'
import { timers } from '../helpers/timers.ts'

interface Scene {
  records: ExpiringRecords
  /** Lets seconds go by; timers that fall due in them run. */
  pass (seconds: number): void
  /** How many timers are armed. */
  armed (): number
}

/** Records on a clock, and with timers, that the test moves. */
function scene (t: Test, limit = 10): Scene {
  const [clock, timeout] = [performance.now, globalThis.setTimeout]
  // Whole milliseconds: sums of fractions are not exact.
  let now = 1000
  let due: Array<{ at: number, run: () => void }> = []
  performance.now = () => now
  globalThis.setTimeout = ((run: () => void, milliseconds: number) => {
    due.push({ at: now + milliseconds, run })
    return { unref () { return this } }
  }) as unknown as typeof setTimeout
  const records = new ExpiringRecords(limit)
  t.teardown(() => {
    performance.now = clock
    globalThis.setTimeout = timeout
    records.clear()
  })
  const runDue = (): void => {
    const ready = due.filter(({ at }) => at <= now)
    due = due.filter(({ at }) => at > now)
    for (const { run } of ready) run()
    if (ready.length > 0) runDue()
  }
  return {
    records,
    pass (seconds) {
      now += Math.round(seconds * 1000)
      runDue()
    },
    armed: () => due.length
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `key ${index}`)

t.test('a record is there for its lifetime, to the millisecond', async (t) => {
  const { records, pass } = scene(t)
  records.set('a', 'value', 60)
  t.equal(records.get('a'), 'value')
  pass(59.999)
  t.equal(records.get('a'), 'value')
  pass(0.001)
  t.equal(records.get('a'), undefined)
  t.equal(records.get('b'), undefined)
})

t.test('set again: its value and lifetime are the last ones, and it counts once', async (t) => {
  const { records, pass } = scene(t)
  records.set('a', 'first', 10)
  records.set('a', 'second', 20)
  t.equal(records.size, 1)
  pass(15)
  t.equal(records.get('a'), 'second')
})

t.test('deleted: gone, and counted no more', async (t) => {
  const { records } = scene(t)
  records.set('a', 'value', 60)
  records.set('b', 'value', 60)
  records.delete('a')
  records.delete('a')
  records.delete('unknown')
  t.equal(records.size, 1)
  t.equal(records.get('a'), undefined)
  t.equal(records.get('b'), 'value')
})

t.test('past the limit the oldest goes, whatever its lifetime', async (t) => {
  const { records, pass } = scene(t, 3)
  records.set('long', 'value', 100)
  pass(1)
  records.set('short', 'value', 10)
  records.set('middle', 'value', 50)
  records.set('one more', 'value', 1)
  t.equal(records.size, 3)
  t.equal(records.get('long'), undefined, 'the oldest, though it lives longest')
  t.equal(records.get('short'), 'value')
  records.set('another', 'value', 100)
  t.equal(records.get('short'), undefined)
  t.equal(records.get('middle'), 'value')
  t.equal(records.get('one more'), 'value')
})

t.test('what was deleted or set again is not the oldest any more', async (t) => {
  const { records } = scene(t, 3)
  for (const key of ['a', 'b', 'c']) records.set(key, 'value', 60)
  records.set('a', 'again', 60)
  records.delete('b')
  records.set('d', 'value', 60)
  t.equal(records.size, 3)
  records.set('e', 'value', 60)
  t.equal(records.get('c'), undefined, 'the oldest of those that are left')
  t.strictSame(['a', 'd', 'e'].map((key) => records.get(key)), ['again', 'value', 'value'])
})

t.test('what replaces a record at the limit drops no other', async (t) => {
  const { records } = scene(t, 2)
  records.set('a', 'value', 10)
  records.set('b', 'value', 60)
  records.set('b', 'again', 60)
  t.equal(records.get('a'), 'value')
  t.equal(records.get('b'), 'again')
})

t.test('many keys, whatever they are, each have their own place', async (t) => {
  const { records } = scene(t, 5000)
  for (const name of names(5000)) records.set(name, `value of ${name}`, 60)
  t.equal(records.size, 5000)
  t.ok(names(5000).every((name) => records.get(name) === `value of ${name}`))
  for (const name of names(5000)) records.delete(name)
  t.equal(records.size, 0)
})

t.test('expired records are dropped though nobody asks for them', async (t) => {
  const { records, pass } = scene(t, 5000)
  records.set('first', 'value', 60)
  for (const name of names(2000)) records.set(name, 'value', 10)
  records.set('last', 'value', 60)
  pass(9.5)
  t.equal(records.size, 2002, 'not before')
  pass(1.5)
  t.equal(records.size, 2, 'all of them, also behind one that lives longer')
  t.strictSame([records.get('first'), records.get('last')], ['value', 'value'])
  pass(50)
  t.equal(records.size, 0, 'what was left is dropped in its turn')
  records.set('later', 'value', 10)
  pass(11)
  t.equal(records.size, 0, 'and what came after it had run empty')
})

/** Sweeps wait in the list that is returned, until the test runs them. */
function holdSweeps (t: Test): Array<() => void> {
  const { setTimeout: real } = globalThis
  const sweeps: Array<() => void> = []
  globalThis.setTimeout = ((sweep: () => void) => {
    sweeps.push(sweep)
    return { unref () { return this } }
  }) as unknown as typeof setTimeout
  t.teardown(() => { globalThis.setTimeout = real })
  return sweeps
}

t.test('past the limit the oldest goes, also where a sweep rests before it', async (t) => {
  const records = new ExpiringRecords(502)
  const sweeps = holdSweeps(t)
  for (const name of names(500)) records.set(name, 'value', 0)
  records.set('oldest', 'value', 60)
  records.set('younger', 'value', 60)
  sweeps.shift()?.()
  t.equal(records.size, 2, 'the first slice is gone, and the sweep rests')
  for (const name of names(500)) records.set(`new ${name}`, 'value', 60)
  t.equal(records.get('oldest'), 'value')
  records.set('last', 'value', 60)
  t.strictSame(['oldest', 'younger', 'last'].map((key) => records.get(key)), [undefined, 'value', 'value'])
  t.equal(records.size, 502)
})

t.test('one slice in a turn, so that others get their turn', async (t) => {
  const records = new ExpiringRecords(5000)
  const sweeps = holdSweeps(t)
  for (const name of names(1600)) records.set(name, 'value', 0)
  const sizes: number[] = []
  for (let sweep = sweeps.shift(); sweep !== undefined; sweep = sweeps.shift()) {
    sweep()
    sizes.push(records.size)
  }
  t.strictSame(sizes, [1100, 600, 100, 0])
})

t.test('empty, no timer is armed', async (t) => {
  const { records, pass, armed } = scene(t)
  records.set('a', 'value', 10)
  records.set('b', 'value', 20)
  t.equal(armed(), 1, 'one for all')
  pass(10)
  t.equal(armed(), 1, 'one is left')
  pass(11)
  t.equal(records.size, 0)
  t.equal(armed(), 0)
})

t.test('it does not keep the process', async (t) => {
  const before = timers()
  const records = new ExpiringRecords(10)
  t.teardown(() => records.clear())
  records.set('a', 'value', 10)
  t.equal(timers(), before)
})

t.test('cleared, it begins again', async (t) => {
  const { records, pass } = scene(t, 2)
  records.set('a', 'value', 10)
  records.clear()
  t.equal(records.size, 0)
  t.equal(records.get('a'), undefined)
  for (const key of ['b', 'c', 'd']) records.set(key, 'value', 60)
  t.equal(records.size, 2)
  t.strictSame(['b', 'c', 'd'].map((key) => records.get(key)), [undefined, 'value', 'value'], 'the oldest goes again')
  pass(61)
  t.equal(records.size, 0, 'expired records are dropped again')
})
