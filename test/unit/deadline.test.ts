// One time limit for many calls (contract section 4: within `storeTimeout`, never a hang).
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { Deadline, type Pending } from '../../lib/stores/deadline.ts'
import { timers } from '../helpers/timers.ts'

class Call implements Pending {
  isSettled = false
  expired = 0
  expiredAt = 0

  expire (): void {
    this.expired++
    this.expiredAt = performance.now()
    this.isSettled = true
  }
}

t.test('what is not settled in time expires, once, and in the order it came', async (t) => {
  const deadline = new Deadline(50)
  const started = performance.now()
  const first = new Call()
  deadline.add(first)
  await wait(20)
  const second = new Call()
  const third = new Call()
  deadline.add(second)
  deadline.add(third)
  await wait(150)
  for (const call of [first, second, third]) t.equal(call.expired, 1)
  t.ok(first.expiredAt - started >= 50, 'the first after its own time')
  t.ok(second.expiredAt - started >= 70, 'the others after theirs')
  t.ok(first.expiredAt < second.expiredAt)
  t.ok(second.expiredAt <= third.expiredAt)
})

t.test('what is settled does not expire, wherever it stands', async (t) => {
  const deadline = new Deadline(30)
  const calls = Array.from({ length: 5 }, () => new Call())
  for (const call of calls) deadline.add(call)
  for (const index of [0, 2, 4]) Object.assign(calls[index] as Call, { isSettled: true })
  await wait(100)
  t.strictSame(calls.map(({ expired }) => expired), [0, 1, 0, 1, 0])
})

t.test('it serves again after it has run empty', async (t) => {
  const deadline = new Deadline(20)
  for (let round = 0; round < 3; round++) {
    const [settled, silent] = [new Call(), new Call()]
    deadline.add(settled)
    settled.isSettled = true
    deadline.add(silent)
    await wait(80)
    t.strictSame([settled.expired, silent.expired], [0, 1])
  }
})

t.test('one timer serves all, and closing lets go of it', async (t) => {
  const before = timers()
  const deadline = new Deadline(10_000)
  const calls = Array.from({ length: 10 }, () => new Call())
  for (const call of calls) deadline.add(call)
  t.equal(timers(), before + 1)
  deadline.close()
  t.equal(timers(), before + 1, 'not while a call is under way')
  for (const call of calls) call.isSettled = true
  deadline.close()
  t.equal(timers(), before)
  const last = new Call()
  deadline.add(last)
  t.equal(timers(), before + 1, 'a call after that has its time limit again')
  last.isSettled = true
  deadline.close()
  t.equal(timers(), before)
})

t.test('a call is as good as its outcome, or rejected when the time is over', async (t) => {
  const deadline = new Deadline(40)
  t.equal(await deadline.within(async () => 'value'), 'value')
  await t.rejects(deadline.within(async () => { throw new Error('its own') }), { message: 'its own' })
  await t.rejects(deadline.within(() => { throw new Error('thrown at once') }), { message: 'thrown at once' })
  const started = performance.now()
  await t.rejects(deadline.within(() => new Promise(() => {})), { message: 'The store did not answer in time' })
  t.ok(performance.now() - started >= 40)
})

t.test('an outcome settles the call, good or bad', async (t) => {
  const before = timers()
  const deadline = new Deadline(10_000)
  await deadline.within(async () => 'value')
  await deadline.within(async () => { throw new Error('bad') }).catch(() => {})
  await wait(5)
  deadline.close()
  t.equal(timers(), before)
})
