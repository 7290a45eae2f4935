// One suite for every store: put-if-absent, take once in a race of 200, revoke before and after put, real expiry.
import { Redis } from 'ioredis'
import t from 'tap'
import { type Store } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { someRedis, startRedis } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'

t.test('memory', async (t) => {
  const store = new MemoryStore(1000)
  t.teardown(() => store.close())
  await t.resolves(checkStore(store))
})

t.test('Redis', async (t) => {
  const { client, keyPrefix } = await someRedis(t)
  await t.resolves(checkStore(withTimeLimit(new RedisStore(client, keyPrefix, 1000))))

  const keys = await client.keys(`${keyPrefix}*`)
  t.ok(keys.length > 0)
  for (const key of keys) t.ok(await client.ttl(key) > 0, 'every key has a lifetime')
})

t.test('Redis, through a client with a prefix of its own', async (t) => {
  const { client, port } = await startRedis(t)
  const prefixed = new Redis(port, { keyPrefix: 'host:' })
  t.teardown(() => prefixed.disconnect())
  const store = withTimeLimit(new RedisStore(prefixed, 'partner-sso:', 1000))
  await prefixed.ping()
  await store.put('key', 'value', 60)
  t.strictSame(await client.keys('*'), ['host:partner-sso:key'])
  t.equal(await store.take('key'), 'value')
})

t.test('each operation is one command', async (t) => {
  const { client } = await startRedis(t)
  const store = withTimeLimit(new RedisStore(client, 'p:', 1000))
  const count = async (operation: () => Promise<unknown>): Promise<string[]> => {
    await client.config('RESETSTAT')
    await operation()
    const stats = await client.info('commandstats')
    return [...stats.matchAll(/cmdstat_([\w|]+):calls=(\d+)/g)].map(([, name, calls]) => `${name} ${calls}`)
      .filter((line) => !/^(?:config|info)/.test(line))
  }
  t.strictSame(await count(() => store.put('a', 'value', 60)), ['set 1'])
  t.strictSame(await count(() => store.take('a')), ['getdel 1'])
  t.strictSame(await count(() => store.revoke('a', 60)), ['set 1'])
})

t.test('the suite finds what a store does not keep', async (t) => {
  const forgetful: Store = { put: async () => true, take: async () => null, revoke: async () => false }
  await t.rejects(checkStore(forgetful),
    /The store breaks \d+ of \d+ promises:[^]*put stores base64url text of up to \d+ characters/)
})
