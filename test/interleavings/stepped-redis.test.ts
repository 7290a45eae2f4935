// The explorer proves something only if its Redis behaves as the real one. The plugin's own Redis store runs the same
// sequences on both: each result, each refusal and what is held at the end is the same, also where memory is full.
import fc from 'fast-check'
import t from 'tap'
import type { Store } from '../../lib/index.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { startRedis } from '../helpers/redis.ts'
import { seed } from '../helpers/seed.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { MISTAKES, steppedRedis } from './stepped-redis.ts'
import type { Mistake } from './stepped-redis.ts'

const LIFETIMES = [60, 120] as const
const KEYS = ['a', 'b'] as const

interface Operation { name: 'put' | 'take' | 'revoke' | 'fill' | 'free', key: typeof KEYS[number], lifetime: number }

const operations: fc.Arbitrary<Operation[]> = fc.array(fc.record({
  name: fc.constantFrom('put', 'take', 'revoke', 'fill', 'free'),
  key: fc.constantFrom(...KEYS),
  lifetime: fc.constantFrom(...LIFETIMES)
}), { maxLength: 20 })

/** A Redis to run operations on. */
interface Server {
  options: { store: Store }
  fill (full: boolean): unknown
  /** Seconds that the key is held for; -2 when it is not. */
  ttl (key: string): number | Promise<number>
}

/** The results of the operations: of an error its first word. */
async function run ({ options: { store }, fill, ttl }: Server, operations: Operation[]): Promise<unknown[]> {
  const results: unknown[] = []
  const note = async (result: Promise<unknown>) =>
    results.push(await result.catch((error: Error) => `${error.name} ${error.message.split(' ')[0]}`))
  for (const { name, key, lifetime } of operations) {
    if (name === 'fill' || name === 'free') await fill(name === 'fill')
    else if (name === 'put') await note(store.put(key, `value-${results.length}`, lifetime))
    else if (name === 'take') await note(store.take(key))
    else await note(store.revoke(key, lifetime))
  }
  // A real second may have passed.
  for (const key of KEYS) results.push(Math.ceil(await ttl(key) / 10))
  return results
}

t.test('the model does what Redis does', async (t) => {
  const { client, url } = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const own = new RedisStore(url, '', 30_000)
  t.teardown(() => own.close())
  const real: Server = {
    options: { store: withTimeLimit(own) },
    fill: (full) => client.config('SET', 'maxmemory', full ? '1' : '0'),
    ttl: (key) => client.ttl(key)
  }
  const compare = async (mistake?: Mistake) => await fc.assert(fc.asyncProperty(operations, async (operations) => {
    await real.fill(false)
    await client.flushall()
    const [expected, got] = [await run(real, operations), await run(steppedRedis(mistake), operations)]
    if (JSON.stringify(got) !== JSON.stringify(expected)) {
      throw new Error(`Redis returned ${JSON.stringify(expected)}, the model ${JSON.stringify(got)}`)
    }
  }), { numRuns: 50, seed })

  await t.resolves(compare())
  for (const mistake of MISTAKES) await t.rejects(compare(mistake), /Property failed/, mistake)
})
