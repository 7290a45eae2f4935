// One suite for every store: put-if-absent, take once in a race of 200, revoke before and after put, real expiry.
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { createTable, postgresStore } from '../../examples/postgres-store.ts'
import type { Store } from '../../lib/index.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startPostgres } from '../helpers/postgres.ts'
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
      .filter((line) => !/^(?:config|info)/.test(line)).sort()
  }
  t.strictSame(await count(() => store.put('a', 'value', 60)), ['set 1'])
  t.strictSame(await count(() => store.take('a')), ['getdel 1'])
  t.match(await count(() => store.revoke('a', 60)), ['eval 1', 'expire 1', 'getdel 1', 'sadd 1'])
})

t.test('out of memory, a revocation is served: neither a put nor any number of takes undoes it', async (t) => {
  const { client } = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const store = withTimeLimit(new RedisStore(client, 'p:', 1000))
  await store.put('live', 'value', 60)
  await client.config('SET', 'maxmemory', '1')
  t.equal(await store.revoke('live', 60), true, 'a live value')
  t.equal(await store.revoke('none', 60), false)
  await client.config('SET', 'maxmemory', '0')
  for (const key of ['live', 'none']) {
    for (let count = 0; count < 5; count++) t.equal(await store.take(key), null)
    t.equal(await store.put(key, 'value', 60), false)
    t.equal(await store.revoke(key, 30), false, 'a mark is no live value')
    t.ok(await client.ttl(`p:${key}`) <= 30)
  }
})

const marks: Record<string, (t: Test) => Promise<Store>> = {
  'in process': async (t) => {
    const store = new MemoryStore(10)
    t.teardown(() => store.close())
    return store
  },
  Redis: async (t) => withTimeLimit(new RedisStore((await startRedis(t)).client, '', 1000)),
  PostgreSQL: async (t) => {
    const { pool } = await startPostgres(t)
    await createTable(pool)
    return postgresStore(pool)
  }
}

for (const [name, open] of Object.entries(marks)) {
  t.test(`${name}: a mark survives any number of takes, and puts`, async (t) => {
    const store = await open(t)
    for (const [key, wasLive] of [['live', true], ['none', false]] as const) {
      if (wasLive) await store.put(key, 'value', 60)
      t.equal(await store.revoke(key, 60), wasLive)
      for (let count = 0; count < 10; count++) {
        t.equal(await store.take(key), null)
        t.equal(await store.put(key, 'value', 60), false)
        t.equal(await store.revoke(key, 60), false)
      }
    }
  })
}

t.test('the suite finds what a store does not keep', async (t) => {
  const forgetful: Store = { put: async () => true, take: async () => null, revoke: async () => false }
  await t.rejects(checkStore(forgetful),
    /The store breaks \d+ of \d+ promises:[^]*put stores base64url text of up to \d+ characters/)
})
