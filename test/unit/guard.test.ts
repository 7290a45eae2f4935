// What stands before every store: failures become `store_unavailable`, and a change of state is reported once.
import t from 'tap'
import { MessageChannel } from 'node:worker_threads'
import { GuardedStore, timed } from '../../lib/stores/guard.ts'
import { timers } from '../helpers/timers.ts'

const good = { put: async () => true, take: async () => 'value', revoke: async () => false }
const soon = (milliseconds = 60_000): number => performance.now() + milliseconds

t.test('what the store gives is passed on, and its arguments to it', async (t) => {
  const calls: unknown[][] = []
  const note = <T>(answer: T) => async (...args: unknown[]): Promise<T> => {
    calls.push(args)
    return answer
  }
  const store = { put: note(true), take: note('value'), revoke: note(false) }
  const deadline = soon()
  const guarded = new GuardedStore(store, () => t.fail('nothing has changed'))
  t.equal(await guarded.put('a', 'b', 1, deadline), true)
  t.equal(await guarded.take('c', deadline), 'value')
  t.equal(await guarded.revoke('d', 2, deadline), false)
  t.strictSame(calls.splice(0), [['a', 'b', 1, deadline], ['c', deadline], ['d', 2, deadline]])

  const limited = timed(store)
  t.equal(await limited.put('a', 'b', 1, deadline), true)
  t.equal(await limited.take('c', deadline), 'value')
  t.equal(await limited.revoke('d', 2, deadline), false)
  t.strictSame(calls, [['a', 'b', 1], ['c'], ['d', 2]], 'a store of the host knows no deadline')
})

t.test('whatever is thrown is store_unavailable, with its sentence and nothing of the command', async (t) => {
  for (const [thrown, cause] of [
    [new Error('Connection is closed.'), 'Connection is closed.'],
    [
      new Error('ERR unknown command \'getdel\', with args beginning with: \'a-key\'\n\'more\''),
      'ERR unknown command \'getdel\''
    ],
    ['no error at all', 'no error at all'],
    [null, 'The store threw nothing'],
    [undefined, 'The store threw nothing'],
    [Object.create(null), 'An error without a readable message'],
    [
      Object.defineProperty(new Error('x'), 'message', { get () { throw new Error('no message') } }),
      'An error without a readable message'
    ]
  ] as const) {
    const told: unknown[][] = []
    const guarded = new GuardedStore({ ...good, take: async () => { throw thrown } }, (...args) => told.push(args))
    await t.rejects(guarded.take('a', soon()), { name: 'OAuthError', reason: 'store_unavailable', context: { cause } })
    t.strictSame(told, [[false, cause]])
  }
})

t.test('a value that is no answer of the operation is store_unavailable, and not repeated', async (t) => {
  const not = (...answers: unknown[]): unknown[] => answers
  for (const name of ['put', 'take', 'revoke'] as const) {
    const wrong = name === 'take'
      ? not(undefined, true, 1, Buffer.from('value'), ['value'], {})
      : not(undefined, null, 'OK', 'secret', 1, Buffer.from('OK'), {})
    for (const answer of wrong) {
      const guarded = new GuardedStore({ ...good, [name]: async () => answer }, () => {})
      const calls = {
        put: () => guarded.put('a', 'b', 1, soon()),
        take: () => guarded.take('a', soon()),
        revoke: () => guarded.revoke('a', 1, soon())
      }
      const error = await Promise.resolve(calls[name]()).catch((error: unknown) => error)
      t.match(error, {
        reason: 'store_unavailable',
        context: { cause: `${name} gave ${answer === null ? 'null' : typeof answer}` }
      })
    }
  }
})

t.test('each change is reported once', async (t) => {
  const told: unknown[][] = []
  let fails = false
  const broken = async (): Promise<never> => { throw new Error('down') }
  const guarded = new GuardedStore({ ...good, put: () => fails ? broken() : good.put() }, (...args) => told.push(args))
  t.equal(guarded.failure, null)
  const put = (): Promise<unknown> => guarded.put('a', 'b', 1, soon()).catch(() => {})
  for (fails of [false, true, true, false, false, true]) await put()
  t.match(guarded.failure, { message: 'down' })
  t.strictSame(told, [[false, 'down'], [true], [false, 'down']])
})

t.test('a probe stores something and takes it back, under a key of its own', async (t) => {
  const stored = new Map<string, string>()
  const keys: string[] = []
  const revoked: unknown[][] = []
  const store = {
    async put (key: string, value: string) {
      keys.push(key)
      stored.set(key, value)
      return true
    },
    async take (key: string) {
      const value = stored.get(key) ?? null
      stored.delete(key)
      return value
    },
    async revoke (...args: unknown[]) {
      revoked.push(args)
      return false
    }
  }
  const guarded = new GuardedStore(store, () => t.fail('nothing has changed'))
  for (let count = 0; count < 2; count++) t.equal(await guarded.probe(soon()), true)
  t.strictSame(revoked, [], 'it leaves nothing behind')
  const deadline = soon()
  await guarded.probeAll(deadline)
  t.match(revoked, [[/^probe-[\w-]{14}$/, 1, deadline]])
  t.equal(stored.size, 0)
  t.equal(new Set([...keys, revoked[0]?.[0]]).size, 4)
})

t.test('a probe that finds something else is a failure', async (t) => {
  const cause = 'It did not keep what was put and give it back'
  const faults = [
    { put: async () => false }, { put: async () => 'OK' as never }, { take: async () => null },
    { take: async () => 'another' }
  ]
  for (const fault of faults) {
    const told: unknown[][] = []
    const guarded = new GuardedStore({ ...good, take: async () => 'probe', ...fault }, (...args) => told.push(args))
    await t.rejects(guarded.probe(soon()), { name: 'OAuthError', reason: 'store_unavailable', context: { cause } })
    t.strictSame(told, [[false, cause]])
  }
})

t.test('a store that never answers is given up', async (t) => {
  const never = new Promise<never>(() => {})
  const store = timed({ put: () => never, take: () => never, revoke: () => never })
  const calls: Array<(deadline: number) => Promise<unknown>> = [
    (deadline) => store.put('a', 'b', 1, deadline),
    (deadline) => store.take('a', deadline),
    (deadline) => store.revoke('a', 1, deadline)
  ]
  for (const call of calls) {
    await t.rejects(call(soon(20)), { message: 'The store did not answer in time' })
  }
})

t.test('after the deadline a store is not called any more', async (t) => {
  let calls = 0
  const counted = async (): Promise<never> => { calls++; throw new Error('It was called') }
  const store = timed({ put: counted, take: counted, revoke: counted })
  await t.rejects(store.take('a', performance.now()), { message: 'The store did not answer in time' })
  t.equal(calls, 0)
})

t.test('answered, no timer is left', async (t) => {
  const before = timers()
  const store = timed({ ...good, take: () => { throw new Error('at once') } })
  const pending = store.put('a', 'b', 1, soon())
  t.equal(timers(), before + 1)
  t.equal(await pending, true)
  await t.rejects(store.take('a', soon()), { message: 'at once' })
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(timers(), before)
})

t.test('after a stall of the event loop, answers that have arrived are read first', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const answer = new Promise<string>((resolve) => { port1.on('message', resolve) })
  const taken = timed({ ...good, take: () => answer }).take('a', soon(300))
  // It arrives during the stall, and the deadline passes in it.
  port2.postMessage('value')
  for (const end = soon(400); performance.now() < end;);
  t.equal(await taken, 'value')
})
