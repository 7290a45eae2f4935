// Time limits on a clock that the test moves: each ends a millisecond after its deadline, not at it, and not later.
import type { FastifyBaseLogger } from 'fastify'
import { setImmediate as turn } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import type { Test } from 'tap'
import type { Store } from '../../lib/index.ts'
import { GuardedStore, TimeLimitedStore } from '../../lib/stores/guard.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { atDeadline, clearTimeout, nextTurn, within } from '../../lib/time-limit.ts'
import { clockOf } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { PORTAL, startApp } from '../app.ts'
import { inProcess } from '../wire.ts'

const never = (): Promise<never> => new Promise(() => {})
const late = () => new Error('late')

/** Checks that what `start` begins ends one millisecond after these: not with them, and not later. */
async function endsAfter (
  t: Test, milliseconds: number, start: (clock: Clock) => Promise<unknown>, name = String(milliseconds)
): Promise<void> {
  const clock = clockOf(t)
  let isOver = false
  const end = (): void => { isOver = true }
  clock.run(() => { start(clock).then(end, end) })
  for (const [passing, expected] of [[0, false], [milliseconds, false], [1, true]] as const) {
    clock.pass(passing)
    for (let turns = 0; turns < 5; turns++) await turn()
    t.equal(isOver, expected, name)
  }
}

const reached = (deadline: number) => new Promise<void>((resolve) => { atDeadline(deadline, resolve) })

t.test('a deadline', async (t) => {
  await endsAfter(t, 1000, ({ now }) => reached(now + 1000))
  await endsAfter(t, 21, ({ now }) => reached(now + 20.1), 'a fraction')
  // Node.js makes one millisecond of a delay that is too long for its timers.
  await endsAfter(t, 2 ** 31 - 2, () => reached(Infinity), 'a deadline that is never')
  const clock = clockOf(t)
  clock.run(() => clearTimeout(atDeadline(clock.now + 20, () => t.fail('it was called off'))))
  clock.pass(1000)
  await turn()
  const called = clock.run(() => within(clock.now, () => t.fail('it was called'), late))
  await t.rejects(called, { message: 'late' }, 'at the deadline')
})

t.test('a call of the store, the start and a readiness route', async (t) => {
  const store = new TimeLimitedStore({ put: never, take: never, revoke: never })
  await endsAfter(t, 1000, ({ now }) => store.put('a', 'b', 1, now + 1000), 'put')
  await endsAfter(t, 1000, ({ now }) => store.take('a', now + 1000), 'take')
  await endsAfter(t, 1000, ({ now }) => store.revoke('a', 1, now + 1000), 'revoke')
  const log = { error: () => {} } as unknown as FastifyBaseLogger
  const guarded = (timeout: number) => new GuardedStore(store, timeout, log)
  await endsAfter(t, 700, () => guarded(700).isReady(), 'readiness')
  await endsAfter(t, 4000, () => guarded(30_000).start(), "the start: Fastify's pluginTimeout is ten seconds")
})

t.test('the portal function: `storeTimeout`; what it does later has no effect', async (t) => {
  let fail = (_error: Error): void => {}
  const portal = () => new Promise<never>((_resolve, reject) => { fail = reject })
  const { app } = await startApp(t, { options: { portal, storeTimeout: 7000 } })
  await endsAfter(t, 7000, () => inProcess(app).authorize())
  fail(new Error('Too late: it must not end the process'))
  await turn()
})

t.test('the user endpoint: the time of the portal function is not that of the store', async (t) => {
  const memory = new MemoryStore(10)
  let isSlow = false
  const portalAt = async (): Promise<typeof PORTAL> => {
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 6000))
    return PORTAL
  }
  const store: Store = {
    put: (...given) => memory.put(...given),
    take: (key) => isSlow ? never() : memory.take(key),
    revoke: (...given) => memory.revoke(...given)
  }
  const { app } = await startApp(t, { options: { storeTimeout: 7000, portal: portalAt, store } })
  const portal = inProcess(app)
  const token = await portal.accessToken()
  isSlow = true
  const clock = clockOf(t)
  let status: number | undefined
  clock.run(() => portal.user(token)).then((response) => { status = response.status }, t.fail)
  for (const [milliseconds, expected] of [[0, undefined], [6000, undefined], [7000, undefined], [1, 503]] as const) {
    clock.pass(milliseconds)
    for (let turns = 0; turns < 20; turns++) await turn()
    t.equal(status, expected, `after ${clock.now} ms`)
  }
})

t.test('the next turn begins when what has arrived was read', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  let isRead = false
  port1.on('message', () => { isRead = true })
  await turn()
  port2.postMessage('value')
  await nextTurn()
  t.equal(isRead, true)
})

t.test('a response that has arrived in a stall of the event loop is read first', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const response = new Promise<string>((resolve) => { port1.on('message', resolve) })
  const taken = within(performance.now() + 300, () => response, late)
  // It arrives during the stall, and the deadline passes in it.
  port2.postMessage('value')
  for (const end = performance.now() + 400; performance.now() < end;);
  t.equal(await taken, 'value')
})
