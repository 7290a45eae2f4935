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
const KEYS = ['a', 'b']

/** What a store should hold: the model. */
type Model = Map<string, string | typeof REVOKED>

type Result = boolean | string | null

interface Operation { name: 'put' | 'take' | 'revoke', key: string, value: string }

/** What the operation yields, and what is held afterwards. */
function step (model: Model, { name, key, value }: Operation): Result {
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

async function run (store: Store, { name, key, value }: Operation): Promise<Result> {
  if (name === 'put') return await store.put(key, value, LIFETIME)
  if (name === 'take') return await store.take(key)
  return await store.revoke(key, LIFETIME)
}

/** Whether the results are those of some order of the operations, ending in what the store holds. */
function someOrder (
  operations: Operation[], results: Result[], model: Model, end: (model: Model) => boolean
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
  key: fc.constantFrom(...KEYS),
  value: fc.base64String({ minLength: 1, maxLength: 12 })
})

/** Two views of one store, and a way to empty it. */
interface Fixture { stores: [Store, Store], clear (): Promise<unknown> }

async function check (t: Test, { stores, clear }: Fixture): Promise<void> {
  t.comment(`SEED=${seed}`)
  const [store, other] = stores
  const inTurn = fc.array(operation, { maxLength: 20 })
  const together = fc.array(operation, { minLength: 2, maxLength: 6 })
  await fc.assert(fc.asyncProperty(inTurn, together, fc.scheduler(), async (before, atOnce, scheduler) => {
    await clear()
    const model: Model = new Map()
    for (const operation of before) {
      const [expected, result] = [step(model, operation), await run(store, operation)]
      if (result !== expected) throw new Error(`${JSON.stringify(operation)} gave ${result}, not ${expected}`)
    }
    const running = atOnce.map(async (operation, index) => {
      await scheduler.schedule(Promise.resolve(), operation.name)
      return await run(index % 2 === 0 ? store : other, operation)
    })
    await scheduler.waitAll()
    const seen = await Promise.all(running)
    const held = await Promise.all(KEYS.map((key) => other.take(key)))
    const isHeld = (model: Model): boolean =>
      KEYS.every((key, index) => held[index] === step(new Map(model), { name: 'take', key, value: '' }))
    if (!someOrder(atOnce, seen, model, isHeld)) throw new Error(`no order explains ${JSON.stringify([seen, held])}`)
  }), { numRuns: RUNS, seed })
  t.pass(`${RUNS} sequences`)
}

/** The in-process store, and another one for each clear. */
function inMemory (change: (store: Store) => Store = (store) => store): Fixture {
  let store = change(new MemoryStore(1000))
  const view: Store = {
    put: (...given) => store.put(...given),
    take: (key) => store.take(key),
    revoke: (...given) => store.revoke(...given)
  }
  return { stores: [view, view], async clear () { store = change(new MemoryStore(1000)) } }
}

t.test('in memory', async (t) => await check(t, inMemory()))

t.test('on Redis, through two connections', async (t) => {
  const { url, client, keyPrefix } = await someRedis(t)
  const stores = await Promise.all([1, 2].map(async () => {
    const connection = new Redis(url)
    t.teardown(() => connection.disconnect())
    await connection.ping()
    return withTimeLimit(new RedisStore(connection, keyPrefix, 60_000), 60_000)
  })) as [Store, Store]
  await check(t, { stores, clear: () => client.del(KEYS.map((key) => keyPrefix + key)) })
})

t.test('the check itself finds a store that reads first and removes then', async (t) => {
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
  await t.rejects(check(silent, twoSteps), { cause: { message: /^no order explains/ } })
})
