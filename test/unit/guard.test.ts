// What stands before every store: failures become `store_unavailable`, and a change of state is told once.
import t from 'tap'
import { Deadline } from '../../lib/stores/deadline.ts'
import { GuardedStore, timed } from '../../lib/stores/guard.ts'

const good = { put: async () => true, take: async () => 'value', revoke: async () => {} }

t.test('what the store gives is passed on, and its arguments to it', async (t) => {
  const calls: unknown[][] = []
  const store = {
    put: async (...args: unknown[]) => { calls.push(args); return true },
    take: async (...args: unknown[]) => { calls.push(args); return 'value' },
    revoke: async (...args: unknown[]) => { calls.push(args) }
  }
  for (const guarded of [new GuardedStore(store, () => t.fail('nothing has changed')), timed(store, new Deadline(100))]) {
    calls.length = 0
    t.equal(await guarded.put('a', 'b', 1), true)
    t.equal(await guarded.take('c'), 'value')
    t.equal(await guarded.revoke('d', 2), undefined)
    t.strictSame(calls, [['a', 'b', 1], ['c'], ['d', 2]])
  }
})

t.test('whatever is thrown is store_unavailable, with its sentence and nothing of the command', async (t) => {
  for (const [thrown, cause] of [
    [new Error('Connection is closed.'), 'Connection is closed.'],
    [new Error('ERR unknown command \'getdel\', with args beginning with: \'a-key\'\n\'more\''), 'ERR unknown command \'getdel\''],
    ['no error at all', 'no error at all']
  ] as const) {
    const told: unknown[][] = []
    const guarded = new GuardedStore({ ...good, take: async () => { throw thrown } }, (...args) => told.push(args))
    await t.rejects(guarded.take('a'), { name: 'OAuthError', reason: 'store_unavailable', context: { cause } })
    t.strictSame(told, [[false, cause]])
  }
})

t.test('each change is told once', async (t) => {
  const told: unknown[][] = []
  let fails = false
  const broken = async (): Promise<never> => { throw new Error('down') }
  const store = { put: () => fails ? broken() : good.put(), take: good.take, revoke: good.revoke }
  const guarded = new GuardedStore(store, (...args) => told.push(args))
  t.equal(guarded.available, true)
  const put = (): Promise<unknown> => guarded.put('a', 'b', 1).catch(() => {})
  for (fails of [false, true, true, false, false, true]) await put()
  t.equal(guarded.available, false)
  t.strictSame(told, [[false, 'down'], [true, undefined], [false, 'down']])
})

t.test('a probe keeps something and takes it back, under a key of its own', async (t) => {
  const kept = new Map<string, string>()
  const keys: string[] = []
  const store = {
    ...good,
    put: async (key: string, value: string) => { keys.push(key); return kept.size < kept.set(key, value).size },
    take: async (key: string) => { const value = kept.get(key) ?? null; kept.delete(key); return value }
  }
  const guarded = new GuardedStore(store, () => t.fail('nothing has changed'))
  for (let count = 0; count < 2; count++) t.equal(await guarded.probe(), undefined)
  t.equal(kept.size, 0)
  t.not(keys[0], keys[1])
})

t.test('a probe that finds something else is a failure', async (t) => {
  const cause = 'It did not keep what was put and give it back'
  for (const fault of [{ put: async () => false }, { put: async () => 'OK' as never }, { take: async () => null }, { take: async () => 'another' }]) {
    const told: unknown[][] = []
    const guarded = new GuardedStore({ ...good, take: async () => 'probe', ...fault }, (...args) => told.push(args))
    await t.rejects(guarded.probe(), { name: 'OAuthError', reason: 'store_unavailable', context: { cause } })
    t.strictSame(told, [[false, cause]])
  }
})

t.test('a store that never answers is given up', async (t) => {
  const silent = { put: () => new Promise<boolean>(() => {}), take: () => new Promise<null>(() => {}), revoke: () => new Promise<void>(() => {}) }
  const store = timed(silent, new Deadline(20))
  const calls: Array<() => Promise<unknown>> = [() => store.put('a', 'b', 1), () => store.take('a'), () => store.revoke('a', 1)]
  for (const call of calls) await t.rejects(call, { message: 'The store did not answer in time' })
})
