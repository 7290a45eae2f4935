// Time limits on a clock that the test moves: each ends at its deadline, not a millisecond before and none after.
// Alone: it has a clock of its own.
import { byClock, type Clock, newClock, pass } from '../interleavings/clock.ts'
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { FoundPortals } from '../../lib/portal.ts'
import { type Portal } from '../../lib/options/portal.ts'
import { timed } from '../../lib/stores/guard.ts'
import { openStore } from '../../lib/stores/open.ts'
import { type RedisClient } from '../../lib/stores/redis-client.ts'
import { RedisCommand } from '../../lib/stores/redis-command.ts'
import { openConnection, whenReady } from '../../lib/stores/redis-connection.ts'
import { atDeadline, clearTimeout, isPast, within } from '../../lib/stores/time-limit.ts'
import { PORTAL } from '../helpers/host.ts'

const never = new Promise<never>(() => {})

/** Checks that what `start` begins ends after these milliseconds: not one earlier, and none later. */
async function endsAfter (
  t: Test, milliseconds: number, start: (clock: Clock) => Promise<unknown>, name?: string
): Promise<void> {
  const clock = newClock()
  let isOver = false
  const end = (): void => { isOver = true }
  byClock(clock, () => { start(clock).then(end, end) })
  for (let turns = 0; turns < 5; turns++) await turn()
  pass(clock, milliseconds - 1)
  for (let turns = 0; turns < 5; turns++) await turn()
  t.notOk(isOver, `${name ?? milliseconds}: not before`)
  pass(clock, 1)
  for (let turns = 0; turns < 5; turns++) await turn()
  t.ok(isOver, `${name ?? milliseconds}: no later`)
}

t.test('a deadline', async (t) => {
  for (const milliseconds of [1, 20, 1000, 30_000]) {
    await endsAfter(t, milliseconds, ({ now }) =>
      new Promise<void>((resolve) => { atDeadline(now + milliseconds, resolve) }))
  }
  await endsAfter(t, 21, ({ now }) => new Promise<void>((resolve) => { atDeadline(now + 20.1, resolve) }), 'a fraction')
})

t.test('a deadline that is called off', async (t) => {
  const clock = newClock()
  byClock(clock, () => clearTimeout(atDeadline(clock.now + 20, () => t.fail('it was called off'))))
  pass(clock, 1000)
  await turn()
  t.equal(clock.timers.size, 0)
})

t.test('what has passed', async (t) => {
  const clock = newClock()
  t.strictSame(byClock(clock, () => [-1, 0, 1].map((later) => isPast(clock.now + later))), [true, true, false])
})

t.test('a call of the store', async (t) => {
  await endsAfter(t, 1000, ({ now }) => within(now + 1000, () => never))
  const store = timed({ put: () => never, take: () => never, revoke: () => never })
  await endsAfter(t, 1000, ({ now }) => store.put('a', 'b', 1, now + 1000), 'put')
  await endsAfter(t, 1000, ({ now }) => store.take('a', now + 1000), 'take')
  await endsAfter(t, 1000, ({ now }) => store.revoke('a', 1, now + 1000), 'revoke')
})

t.test('the store at the start, and for a readiness route', async (t) => {
  const store = { put: () => never, take: () => never, revoke: () => never }
  const options = { store, keyPrefix: '', memoryLimit: 1, storeTimeout: 700 }
  const reports = { log: { error: () => {} } as never, warn: () => {} }
  const { start, isReady } = await openStore(options, reports)
  await endsAfter(t, 700, start, 'the start')
  await endsAfter(t, 700, isReady, 'readiness')
})

t.test('a command of Redis, and the connection that does not answer it', async (t) => {
  const connection = { writableCorked: 1, destroyed: 0, destroy () { this.destroyed++ } }
  const client = { sendCommand: (command: RedisCommand) => command.toWritable(connection) } as unknown as RedisClient
  const clock = newClock()
  const answer = byClock(clock, () =>
    new RedisCommand('getdel', ['key'], { deadline: clock.now + 300, giveUpAfter: 500 }).sendBy(client))
  let failure: unknown
  answer.catch((error) => { failure = error })
  pass(clock, 299)
  await turn()
  t.equal(failure, undefined)
  pass(clock, 1)
  for (let turns = 0; turns < 3; turns++) await turn()
  t.match(failure, { message: 'Redis did not answer in time' })
  pass(clock, 499)
  t.equal(connection.destroyed, 0, 'the connection is given up when it does not answer as long again')
  pass(clock, 1)
  t.equal(connection.destroyed, 1)
})

t.test('a Redis client that does not connect', async (t) => {
  const client = Object.assign(new EventEmitter(), { status: 'connecting' }) as unknown as RedisClient
  await endsAfter(t, 40, ({ now }) => whenReady(client, now + 40))
})

t.test('a server that accepts the connection and says nothing', async (t) => {
  const { client, close } = openConnection({ port: 1, lazyConnect: true }, 250, () => {})
  t.teardown(close)
  await endsAfter(t, 500, () => new Promise<void>((resolve) => {
    Object.assign(client, { stream: { destroy: resolve } })
    ;(client as unknown as EventEmitter).emit('connect')
  }))
})

t.test('a portal function', async (t) => {
  const portals = new FoundPortals(() => never as Promise<Portal>, 20)
  await endsAfter(t, 20, async () => await portals.find(PORTAL.clientId), 'find')
  await endsAfter(t, 20, async () => await portals.authenticate(PORTAL.clientId, 'x'), 'authenticate')
})
