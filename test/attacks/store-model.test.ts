// Single use rests on three store operations being atomic. Any sequence of them is checked against a model, and any
// number of them at once, in whatever order they happen to start, must look as if they had run one after the other.
// Many runs: MODEL_RUNS=5000; SEED replays a run.
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { Redis } from 'ioredis'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import type { Store } from '../../lib/stores/store.ts'
import { someRedis } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { rounds, seed } from './helpers/settings.ts'

const RUNS = rounds('MODEL_RUNS', 200)
const LIFETIME = 1000
const REVOKED = Symbol('revoked')

/** What a store should hold: the model. */
type Model = Map<string, string | typeof REVOKED>

interface Operation { name: 'put' | 'take' | 'revoke', key: string, value: string }

/** What the operation yields, and what is held afterwards. */
function step (model: Model, { name, key, value }: Operation): boolean | string | null {
  const held = model.get(key)
  if (name === 'revoke') {
    model.set(key, REVOKED)
    return typeof held === 'string'
  }
  if (name === 'put') {
    if (held === undefined) model.set(key, value)
    return held === undefined
  }
  if (held === undefined || held === REVOKED) return null
  model.delete(key)
  return held
}

async function run (store: Store, { name, key, value }: Operation): Promise<boolean | string | null> {
  if (name === 'put') return await store.put(key, value, LIFETIME)
  if (name === 'take') return await store.take(key)
  return await store.revoke(key, LIFETIME)
}

/** Whether the results are those of some order of the operations, ending in what the store holds. */
function someOrder (
  operations: Operation[], results: unknown[], model: Model, end: (model: Model) => boolean
): boolean {
  if (operations.length === 0) return end(model)
  return operations.some((operation, index) => {
    const next = new Map(model)
    return step(next, operation) === results[index] &&
      someOrder(without(operations, index), without(results, index), next, end)
  })
}

const without = <T>(list: T[], index: number): T[] => list.filter((_, other) => other !== index)

const operation: fc.Arbitrary<Operation> = fc.record({
  name: fc.constantFrom('put', 'take', 'revoke'),
  key: fc.constantFrom('a', 'b'),
  value: fc.base64String({ minLength: 1, maxLength: 12 })
})

class Command implements fc.AsyncCommand<Model, Store> {
  readonly operation: Operation
  constructor (operation: Operation) { this.operation = operation }
  check (): boolean { return true }
  toString (): string { return `${this.operation.name}(${this.operation.key}, ${this.operation.value})` }
  async run (model: Model, store: Store): Promise<void> {
    const expected = step(model, this.operation)
    const result = await run(store, this.operation)
    if (result !== expected) throw new Error(`${this.toString()} gave ${String(result)}, not ${String(expected)}`)
  }
}

/** Two views of one store, and a way to empty it. */
interface Fixture { stores: [Store, Store], clear (): Promise<unknown> }

async function check (t: Test, { stores, clear }: Fixture): Promise<void> {
  t.comment(`SEED=${seed}`)
  await fc.assert(fc.asyncProperty(
    fc.commands([operation.map((operation) => new Command(operation))], { maxCommands: 30 }),
    async (commands) => {
      await clear()
      await fc.asyncModelRun(() => ({ model: new Map() as Model, real: stores[0] }), commands)
    }), { numRuns: RUNS, seed })
  t.pass(`${RUNS} sequences`)

  await fc.assert(fc.asyncProperty(
    fc.array(operation, { maxLength: 3 }), fc.array(operation, { minLength: 2, maxLength: 6 }), fc.scheduler(),
    async (before, atOnce, scheduler) => {
      await clear()
      const model: Model = new Map()
      for (const operation of before) {
        step(model, operation)
        await run(stores[0], operation)
      }
      const results = Promise.all(atOnce.map((operation, index) =>
        scheduler.schedule(Promise.resolve(), operation.name).then(() => run(stores[index % 2] as Store, operation))))
      await scheduler.waitAll()
      const seen = await results
      const held = { a: await stores[0].take('a'), b: await stores[1].take('b') }
      const fits = someOrder(atOnce, seen, model, (model) => (['a', 'b'] as const).every((key) => {
        const value = model.get(key)
        return held[key] === (typeof value === 'string' ? value : null)
      }))
      if (!fits) throw new Error(`no order of these explains ${JSON.stringify(seen)}, then ${JSON.stringify(held)}`)
    }), { numRuns: RUNS, seed })
  t.pass(`${RUNS} sets of operations at once`)
}

/** The in-process store, and another one for each clear. */
function inMemory (change: (store: Store) => Store = (store) => store): Fixture {
  const fixture: Fixture = {
    stores: [] as unknown as [Store, Store],
    async clear () {
      const store = change(new MemoryStore(1000))
      fixture.stores.splice(0, 2, store, store)
    }
  }
  return fixture
}

await t.test('in memory', async (t) => await check(t, inMemory()))

await t.test('on Redis, through two connections', async (t) => {
  const { url, client, keyPrefix } = await someRedis(t)
  const stores = await Promise.all([1, 2].map(async () => {
    const connection = new Redis(url)
    t.teardown(() => connection.disconnect())
    await connection.ping()
    return withTimeLimit(new RedisStore(connection, keyPrefix, 60_000), 60_000)
  })) as [Store, Store]
  await check(t, { stores, clear: () => client.del(`${keyPrefix}a`, `${keyPrefix}b`) })
})

await t.test('the check itself finds a store that reads first and removes then', async (t) => {
  const twoSteps = inMemory((store) => ({
    put: (...given) => store.put(...given),
    revoke: (...given) => store.revoke(...given),
    async take (key) {
      const value = await store.take(key)
      if (value === null) return null
      await store.put(key, value, LIFETIME)
      await Promise.resolve()
      await store.take(key)
      return value
    }
  }))
  const silent = { comment () {}, pass () {} } as unknown as Test
  await t.rejects(check(silent, twoSteps), { cause: { message: /^no order of these explains/ } })
})
