// What wraps every store: failures become `store_unavailable`, an outage is two log lines, and a server that can never
// serve a sign-in stops the start.
import { inspect } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { guardStore, withDeadlines } from '../../lib/stores/guard.ts'
import type { BackingStore, GuardedStore } from '../../lib/stores/guard.ts'
import type { Store } from '../../lib/stores/store.ts'
import { clock } from '../helpers/shifted-clocks.ts'
import { timers } from '../helpers/timers.ts'

const soon = (milliseconds = 60_000): number => performance.now() + milliseconds
const good: Store = { put: async () => true, take: async () => 'probe', revoke: async () => null }

type Line = [level: string, fields: unknown, message: string]

/** The guard round a store of which these operations are replaced. */
function guard (faults: Partial<Store> = {}, timeout = 1000, more: Partial<BackingStore> = {}) {
  const lines: Line[] = []
  const level = (name: string) => (fields: unknown, message: string) => { lines.push([name, fields, message]) }
  const log = { error: level('error'), warn: level('warn') } as unknown as FastifyBaseLogger
  const store = { ...good, ...faults }
  return { store, guarded: guardStore({ ...withDeadlines(store), ...more }, timeout, log), lines }
}

const put = (guarded: GuardedStore): Promise<unknown> => guarded.put('a', 'b', 1, soon())

const unreadable = Object.defineProperty(new Error('x'), 'message', { get () { throw new Error('no message') } })

/** What an operation may do wrong, and the cause that is logged. */
const faulty: Array<[name: keyof Store, operation: () => Promise<any>, cause: string]> = [
  ['put', async () => { throw new Error('Connection is closed.') }, 'Connection is closed.'],
  ['take', async () => { throw new Error('ERR unknown command `x`, with args beginning with: `key`\n`more`') },
    'ERR unknown command `x`'],
  ['revoke', async () => { throw Object.create(null) }, 'An error without a readable message'],
  ['put', async () => { throw unreadable }, 'An error without a readable message'],
  ['put', async () => null, 'put returned null instead of a boolean'],
  ['put', async () => 'OK', 'put returned string instead of a boolean'],
  ['take', async () => undefined, 'take returned undefined instead of a string or null'],
  ['take', async () => Buffer.from('value'), 'take returned object instead of a string or null'],
  ['revoke', async () => true, 'revoke returned boolean instead of a string or null']
]

const call = (guarded: GuardedStore, name: keyof Store): Promise<unknown> =>
  name === 'take' ? guarded.take('a', soon()) : name === 'put' ? put(guarded) : guarded.revoke('a', 1, soon())

t.test('an error or invalid value is store_unavailable, without what may be stored, or arguments', async (t) => {
  for (const [name, operation, cause] of faulty) {
    const { guarded, lines } = guard({ [name]: operation })
    const error = await call(guarded, name).catch((error: unknown) => error)
    t.match(error, { reason: 'store_unavailable', context: { cause } }, cause)
    t.strictSame(lines, [['error', { event: 'store_unavailable', reason: 'store_unavailable', cause },
      `partner-sso: store_unavailable (${cause}): no sign-in succeeds until the store is back`]], cause)
  }
})

t.test('an outage is one line at its beginning and one at its end, with its duration and count', async (t) => {
  const { store, guarded, lines } = guard()
  store.put = async () => { throw new Error('down') }
  for (let count = 0; count < 3; count++) await put(guarded).catch(() => {})
  t.equal(lines.splice(0).length, 1)
  clock.pass(90)
  store.put = good.put
  for (let count = 0; count < 2; count++) await put(guarded)
  const [[level, fields, message]] = lines as [[string, { duration: number }, string]]
  t.match([level, fields, message], ['warn', { event: 'store_available', reason: 'ok', refused: 3 },
    /^partner-sso: store_available after \d+ ms, 3 requests refused$/])
  t.ok(fields.duration >= 90_000 && fields.duration < 150_000)
  t.equal(lines.length, 1)
})

t.test('a probe puts and takes a value, and revokes, under keys as long as any other', async (t) => {
  const calls: Array<[name: string, key: string, ...more: unknown[]]> = []
  const note = <T>(name: string, result: T) => async (key: string, ...more: unknown[]): Promise<T> => {
    calls.push([name, key, ...more])
    return result
  }
  const noted = { put: note('put', true), take: note('take', 'probe'), revoke: note('revoke', null) }
  const { guarded, lines } = guard(noted, 30_000)
  await guarded.start()
  t.equal(await guarded.isReady(), true)
  const [put, , revoke, again] = calls.map(([, key]) => key) as [string, string, string, string]
  // The value lives longer than the probe may take.
  t.strictSame(calls.slice(0, 4),
    [['put', put, 'probe', 31], ['take', put], ['revoke', revoke, 1], ['put', again, 'probe', 31]])
  t.match(put, /^probe-[\w-]{14}$/)
  t.equal(new Set([put, revoke, again]).size, 3)
  t.strictSame(lines, [])
})

t.test('a store that does not return what was put, or cannot revoke, is not ready, and hinders no start', async (t) => {
  for (const fault of [
    { take: async () => 'another' }, { put: async () => false }, { put: async () => undefined as never },
    { revoke: async () => false as never }
  ]) {
    const { guarded, lines } = guard(fault)
    const given = inspect(fault)
    await t.resolves(guarded.start(), given)
    t.equal(await guarded.isReady(), false, given)
    t.match(lines, [['error', { event: 'store_unavailable' }]], given)
  }
})

t.test('an error after which the store can never serve stops the start, any other does not', async (t) => {
  const unfit = (error: unknown) =>
    (error as Error).message.startsWith('ERR unknown') ? 'It lacks a command' : undefined
  const start = (message: string, more: Partial<BackingStore>) =>
    guard({ revoke: async () => { throw new Error(message) } }, 1000, more).guarded.start()
  await t.resolves(start('LOADING Redis is loading', { unfit }))
  await t.resolves(start('ERR unknown command', {}))
  await t.rejects(start('ERR unknown command `x`, with args beginning with: `a`', { unfit }),
    { message: 'partner-sso: It lacks a command: ERR unknown command `x`' })
})

t.test('after the deadline nothing is called, and a response leaves no timer behind', async (t) => {
  let calls = 0
  const counted = async (): Promise<never> => { calls++; throw new Error('It was called') }
  t.match(await guard({ take: counted }).guarded.take('a', performance.now()).catch((error: unknown) => error), {
    context: { cause: 'The store did not respond in time' }
  })
  t.equal(calls, 0)
  const before = timers()
  const pending = guard().guarded.put('a', 'b', 1, soon())
  t.equal(timers(), before + 1)
  await pending
  await t.rejects(guard({ take: () => { throw new Error('at once') } }).guarded.take('a', soon()))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(timers(), before)
})
