// One suite for every store: put-if-absent, take once in races, revoke before and after put, real expiry.
import t from 'tap'
import { createTable, deleteExpired, postgresStore } from '../../examples/postgres-store.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startApp } from '../app.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { startRedis } from '../helpers/redis.ts'
import { storeOn } from '../helpers/redis-clients.ts'
import { wire } from '../wire.ts'

t.test('memory', async (t) => {
  await t.resolves(checkStore(new MemoryStore(1000)))
})

t.test('Redis', async (t) => {
  const { client, url } = await startRedis(t)
  await t.resolves(checkStore(storeOn(t, url, 'p:')))

  const keys = await client.keys('p:*')
  t.ok(keys.length > 0)
  for (const key of keys) t.ok(await client.ttl(key) > 0, `${key} has a lifetime`)
})

t.test('Redis, out of memory: no revocation is served, and what is there is left', async (t) => {
  const { client, url } = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const store = storeOn(t, url, 'p:')
  await store.put('live', 'value', 60)
  await client.config('SET', 'maxmemory', '1')
  for (const key of ['live', 'none']) await t.rejects(store.revoke(key, 60), { message: /^OOM/ }, key)
  await client.config('SET', 'maxmemory', '0')
  t.equal(await store.revoke('live', 60), 'value')
  t.equal(await store.put('live', 'value', 60), false)
  t.equal(await store.revoke('live', 30), null, 'a mark is no live value')
  t.ok(await client.ttl('p:live') <= 30)
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

  const { url } = await startApp(t, { options: { store, storeTimeout: 10_000 } })
  await stop()
  // A connection that the pool kept may not have noticed yet.
  const cause = /^The store cannot be used: Error: (?:Connection terminated|connect ECONNREFUSED)/
  await t.rejects(checkStore(store), { message: cause })
  t.equal((await wire(url).authorize()).redirect.get('error'), 'temporarily_unavailable')
})
