// The records of the in-process store (contract section 6), on a clock that the test sets.
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ExpiringRecords } from '../../lib/stores/expiring-records.ts'
import { timers } from '../helpers/timers.ts'

interface Scene {
  records: ExpiringRecords
  /** Lets seconds go by. */
  pass (seconds: number): void
}

function scene (t: Test, limit = 10): Scene {
  const records = new ExpiringRecords(limit)
  const clock = performance.now
  // Whole milliseconds: sums of fractions are not exact.
  let now = Math.ceil(clock.call(performance))
  performance.now = () => now
  t.teardown(() => {
    records.clear()
    performance.now = clock
  })
  return { records, pass: (seconds) => { now += Math.round(seconds * 1000) } }
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

t.test('past the limit the one that expires first goes, of whatever lifetime', async (t) => {
  const { records, pass } = scene(t, 3)
  records.set('long', 'value', 100)
  pass(1)
  records.set('short', 'value', 10)
  records.set('middle', 'value', 50)
  records.set('one more', 'value', 50)
  t.equal(records.size, 3)
  t.equal(records.get('short'), undefined)
  pass(48)
  records.set('another', 'value', 100)
  t.equal(records.get('middle'), undefined, 'of equal ones the older')
  t.equal(records.get('one more'), 'value')
  t.equal(records.get('long'), 'value')
  records.set('the last', 'value', 1)
  t.equal(records.get('one more'), undefined)
  t.equal(records.get('long'), 'value')
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

t.test('what is over is dropped though nobody asks for it, a second later and all of it', async (t) => {
  const { records, pass } = scene(t, 5000)
  for (const name of names(2000)) records.set(name, 'value', 10)
  records.set('stays', 'value', 60)
  await wait(500)
  pass(10)
  t.equal(records.size, 2001, 'not before')
  await wait(900)
  t.equal(records.size, 1)
  t.equal(records.get('stays'), 'value')
  // What was left is swept in its turn.
  pass(50)
  await wait(1200)
  t.equal(records.size, 0)
  // And so is what comes after it had run empty.
  records.set('later', 'value', 10)
  pass(10)
  await wait(1200)
  t.equal(records.size, 0)
})

t.test('a slice at a time, so that others get their turn', async (t) => {
  const { records, pass } = scene(t, 5000)
  for (const name of names(1600)) records.set(name, 'value', 10)
  pass(10)
  const sizes = new Set<number>()
  for (; records.size > 0; await new Promise(setImmediate)) sizes.add(records.size)
  t.strictSame([...sizes], [1600, 1100, 600, 100])
})

t.test('empty, it sleeps', async (t) => {
  const { records, pass } = scene(t)
  const armed: Array<() => void> = []
  const { setTimeout: real } = globalThis
  globalThis.setTimeout = ((sweep: () => void) => {
    armed.push(sweep)
    return { unref () { return this } }
  }) as unknown as typeof setTimeout
  t.teardown(() => { globalThis.setTimeout = real })
  records.set('a', 'value', 10)
  records.set('b', 'value', 20)
  t.equal(armed.length, 1)
  pass(10)
  armed[0]?.()
  t.equal(armed.length, 2, 'one is left')
  pass(10)
  armed[1]?.()
  t.equal(records.size, 0)
  t.equal(armed.length, 2)
})

t.test('it does not keep the process', async (t) => {
  const before = timers()
  scene(t).records.set('a', 'value', 10)
  t.equal(timers(), before)
})

t.test('cleared, it begins again', async (t) => {
  const { records, pass } = scene(t)
  records.set('a', 'value', 10)
  records.clear()
  t.equal(records.size, 0)
  t.equal(records.get('a'), undefined)
  records.set('b', 'value', 60)
  pass(10)
  await wait(1200)
  t.equal(records.size, 1, 'nothing of before is dropped once more')
  pass(50)
  await wait(1200)
  t.equal(records.size, 0, 'what is over is dropped again')
})
