// One outage is two log lines, however many calls fail in it and however many succeed beside them.
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { GuardedStore } from '../../lib/stores/guard.ts'
import type { TimedStore } from '../../lib/stores/store.ts'
import { clockOf } from '../clock.ts'

const STORE_TIMEOUT = 1000
/** Milliseconds after which an outage is over: nothing has failed meanwhile. */
const QUIET = STORE_TIMEOUT + 5000

interface Line { level: string, event: string, cause?: string, duration?: number, refused?: number, message: string }

/** A store that is down or up as the test says, on a clock that the test moves, and what is logged of it. */
function scene (t: Test) {
  const clock = clockOf(t)
  const lines: Line[] = []
  const level = (level: string) => (fields: Omit<Line, 'level' | 'message'>, message: string) =>
    lines.push({ level, ...fields, message })
  const log = { error: level('error'), warn: level('warn') } as unknown as FastifyBaseLogger
  const state = { isUp: true }
  const ifUp = async <T>(result: T): Promise<T> => {
    if (!state.isUp) throw new Error('it is down')
    return result
  }
  const store: TimedStore = { put: () => ifUp(true), take: () => ifUp('probe'), revoke: () => ifUp(null) }
  const guarded = new GuardedStore(store, STORE_TIMEOUT, log)
  return {
    lines,
    state,
    wait: (milliseconds: number) => clock.pass(milliseconds),
    /** A call of the store: it fails, or it succeeds. */
    call: async () => await clock.run(() => guarded.take('key', Infinity).then(() => {}, () => {})),
    /** What a probe of readiness calls. */
    isReady: async () => await clock.run(() => guarded.isReady())
  }
}

t.test('a line at the beginning and one at the end, with the time to the first success, and a count', async (t) => {
  const { lines, state, wait, call } = scene(t)
  state.isUp = false
  for (let count = 0; count < 3; count++) await call()
  t.strictSame(lines.splice(0), [{
    level: 'error',
    event: 'store_unavailable',
    reason: 'store_unavailable',
    cause: 'it is down',
    message: 'partner-sso: store_unavailable (it is down): sign-ins fail until the store is back'
  }])
  wait(90_000)
  state.isUp = true
  await call()
  wait(QUIET - 1)
  await call()
  t.strictSame(lines, [], 'it may fail again')
  wait(1)
  const fields = { level: 'warn', event: 'store_available', reason: 'ok', duration: 90_000, refused: 3 }
  const message = 'partner-sso: store_available after 90000 ms, 3 requests refused'
  t.strictSame(lines, [{ ...fields, message }])
  wait(QUIET)
  t.equal(lines.length, 1)
})

t.test('calls that succeed between others that fail do not end the outage', async (t) => {
  const { lines, state, wait, call } = scene(t)
  for (let count = 0; count < 20; count++) {
    state.isUp = !state.isUp
    await call()
    wait(QUIET - 1)
  }
  t.strictSame(lines.splice(0).map(({ event }) => event), ['store_unavailable'])
  wait(1)
  // To the success after the last failure.
  t.match(lines, [{ event: 'store_available', duration: 19 * (QUIET - 1), refused: 10 }])
  state.isUp = false
  await call()
  t.match(lines.slice(1), [{ event: 'store_unavailable' }], 'the next outage')
})

t.test('an outage that probes of readiness alone have seen: no request was refused', async (t) => {
  const { lines, state, wait, isReady } = scene(t)
  state.isUp = false
  t.equal(await isReady(), false)
  t.equal(await isReady(), false)
  state.isUp = true
  t.equal(await isReady(), true)
  wait(QUIET)
  t.match(lines.map(({ event, refused }) => [event, refused]), [['store_unavailable'], ['store_available', 0]])
  t.equal(lines.length, 2)
})
