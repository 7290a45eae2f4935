// One suite for every store: put-if-absent, take once in a race of 200, revoke before and after put, real expiry.
import t from 'tap'
import { createTable, deleteExpired, postgresStore } from '../../examples/postgres-store.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startHost } from '../helpers/host.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { someRedis, startRedis } from '../helpers/redis.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { wire } from '../helpers/wire.ts'

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

t.test('Redis, out of memory: a revocation is served, and no put and no number of takes undoes it', async (t) => {
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

t.test('PostgreSQL, the store of the examples', async (t) => {
  const { pool, stop } = await startPostgres(t)
  const store = postgresStore(pool)
  await createTable(pool)
  await t.resolves(createTable(pool), 'the table may exist')
  await t.resolves(checkStore(store))

  await pool.query('TRUNCATE partner_sso')
  await store.put('expired', 'value', 0)
  await store.revoke('ended', 0)
  await store.put('live', 'value', 60)
  await store.revoke('revoked', 60)
  t.equal(await deleteExpired(pool), 2)
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM partner_sso ORDER BY key')
  t.strictSame(rows.map(({ key }) => key), ['live', 'revoked'], 'expired rows are deleted, and no others')

  const { url } = await startHost(t, { store, storeTimeout: 10_000 })
  await stop()
  // A connection that the pool kept may not have noticed yet.
  const cause = /^There is no connection to the store: Error: (?:Connection terminated|connect ECONNREFUSED)/
  await t.rejects(checkStore(store), { message: cause })
  t.equal((await wire(url).authorize()).redirect.get('error'), 'temporarily_unavailable')
})
