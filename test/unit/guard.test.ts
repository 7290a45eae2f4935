// What wraps every store: failures become `store_unavailable`, and a server that can never serve a sign-in stops
// the start. What is logged of an outage: outage-log.test.ts.
import type { FastifyBaseLogger } from 'fastify'
import t from 'tap'
import { GuardedStore, TimeLimitedStore } from '../../lib/stores/guard.ts'
import type { BackingStore } from '../../lib/stores/guard.ts'
import type { Store } from '../../lib/stores/store.ts'
import { clockOf } from '../clock.ts'

/** Milliseconds. */
const STORE_TIMEOUT = 30_000

// `probe` is the value that `isReady` puts.
const good: Store = { put: async () => true, take: async () => 'probe', revoke: async () => null }

type Line = [level: string, fields: unknown, message: string]

/** The guard round a store of which these operations are replaced. */
function guard (faults: Partial<Store> = {}, more: Partial<BackingStore> = {}) {
  const lines: Line[] = []
  const level = (name: string) => (fields: unknown, message: string) => { lines.push([name, fields, message]) }
  const log = { error: level('error'), warn: level('warn') } as unknown as FastifyBaseLogger
  const store = { ...good, ...faults }
  const limited = Object.assign(new TimeLimitedStore(store), more)
  return { store, guarded: new GuardedStore(limited, STORE_TIMEOUT, log), lines }
}

/** Each operation of the guard. */
const calls = {
  put: (guarded: GuardedStore, deadline = Infinity): Promise<unknown> => guarded.put('a', 'b', 1, deadline),
  take: (guarded: GuardedStore, deadline = Infinity): Promise<unknown> => guarded.take('a', deadline),
  revoke: (guarded: GuardedStore, deadline = Infinity): Promise<unknown> => guarded.revoke('a', 1, deadline)
}

const fails = (error: unknown) => async (): Promise<never> => { throw error }

const unreadable = Object.defineProperty(new Error('x'), 'message', { get () { throw new Error('no message') } })

/** What an operation may do wrong, and the cause that is logged. */
const faulty: Array<[name: keyof Store, operation: () => Promise<any>, cause: string]> = [
  [
    'take',
    fails(new Error('ERR unknown command `x`, with args beginning with: `key`\n`more`')),
    'ERR unknown command `x`'
  ],
  ['revoke', fails(Object.create(null)), 'An error without a readable message'],
  ['put', fails(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })), 'ECONNREFUSED'],
  ['put', fails(unreadable), 'An error without a readable message'],
  ['put', async () => null, 'put returned null instead of a boolean'],
  ['put', async () => 'OK', 'put returned string instead of a boolean'],
  ['take', async () => undefined, 'take returned undefined instead of a string or null'],
  ['revoke', async () => true, 'revoke returned boolean instead of a string or null']
]

t.test('an error or invalid value is store_unavailable, without what may be stored, or arguments', async (t) => {
  for (const [name, operation, cause] of faulty) {
    const { guarded, lines } = guard({ [name]: operation })
    const error = await calls[name](guarded).catch((error: unknown) => error)
    t.match(error, { reason: 'store_unavailable' }, cause)
    t.equal((error as { context: { cause: string } }).context.cause, cause, cause)
    t.strictSame(lines, [['error', { event: 'store_unavailable', reason: 'store_unavailable', cause },
      `partner-sso: store_unavailable (${cause}): sign-ins fail until the store is back`]], cause)
  }
})

t.test('a probe puts and takes a value, and revokes, under keys as long as any other', async (t) => {
  const noted: unknown[][] = []
  const note = <T>(name: string, result: T) => async (...given: unknown[]): Promise<T> => {
    noted.push([name, ...given])
    return result
  }
  const { guarded } = guard({
    put: note('put', true), take: note('take', 'probe'), revoke: note('revoke', null)
  })
  t.equal(await guarded.isReady(), true)
  const [key, other] = [noted[0]?.[1], noted[2]?.[1]]
  // The value lives longer than the probe may take.
  t.strictSame(noted, [['put', key, 'probe', STORE_TIMEOUT / 1000 + 1], ['take', key], ['revoke', other, 1]])
  t.not(other, key)
  // The storage keys of codes and tokens have 20 characters.
  for (const name of [key, other]) t.match(name, /^probe-[\w-]{14}$/, String(name))
})

t.test('a store of several parts is not ready when one of them is not', async (t) => {
  t.equal(await guard({}, { everyPart: async () => {} }).guarded.isReady(), true)
  const { guarded, lines } = guard({}, { everyPart: fails(new Error('one part is down')) })
  t.equal(await guarded.isReady(), false)
  t.match(lines, [['error', { event: 'store_unavailable', cause: 'one part is down' }]])
})

t.test('a store that does not return what was put, or cannot revoke, is not ready, and hinders no start', async (t) => {
  for (const [name, result] of [['take', 'another'], ['put', false], ['revoke', false]] as const) {
    const { guarded, lines } = guard({ [name]: async () => result })
    await t.resolves(guarded.start(), name)
    t.equal(await guarded.isReady(), false, name)
    t.match(lines, [['error', { event: 'store_unavailable' }]], name)
  }
})

t.test('an error after which the store can never serve stops the start, any other does not', async (t) => {
  const message = 'ERR unknown command `x`, with args beginning with: `a`'
  const revoke = fails(new Error(message))
  await t.resolves(guard({ revoke }, { unfit: () => undefined }).guarded.start())
  await t.rejects(guard({ revoke }, { unfit: () => 'It lacks a command' }).guarded.start(),
    { message: /^partner-sso: It lacks a command: ERR unknown command `x`$/, code: 'FST_PARTNER_SSO_STORE_UNFIT' })
})

t.test('after the deadline nothing is called', async (t) => {
  const called: string[] = []
  const note = (name: string) => async (): Promise<never> => {
    called.push(name)
    throw new Error('It was called')
  }
  const { guarded } = guard({ put: note('put'), take: note('take'), revoke: note('revoke') })
  for (const [name, call] of Object.entries(calls)) {
    const error = await call(guarded, performance.now()).catch((error: unknown) => error)
    t.match(error, { context: { cause: 'The store did not respond in time' } }, name)
  }
  t.strictSame(called, [])
})

t.test('a response, or a failure, leaves no timer behind', async (t) => {
  const { guarded } = guard({ take: fails(new Error('of the store')) })
  const clock = clockOf(t)
  const soon = clock.now + 60_000
  const pending = clock.run(() => calls.put(guarded, soon))
  t.equal(clock.timers.size, 1)
  await pending
  await t.rejects(clock.run(() => calls.take(guarded, soon)))
  t.equal(clock.timers.size, 0)
})
