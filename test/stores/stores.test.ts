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
  await t.resolves(checkStore(new MemoryStore(1000 /* entries */)))
})

t.test('Redis', async (t) => {
  const { client, url } = await startRedis(t)
  await t.resolves(checkStore(storeOn(t, url, 'p:')))

  const keys = await client.keys('p:*')
  t.ok(keys.length > 0)
  // Redis says -1 of a key that never expires.
  for (const key of keys) t.not(await client.ttl(key), -1, `${key} has a lifetime`)
})

t.test('Redis, out of memory: a revocation is refused, and changes nothing', async (t) => {
  const { client, url } = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const store = storeOn(t, url, 'p:')
  await store.put('live', 'value', 60)
  await client.config('SET', 'maxmemory', '1')
  for (const key of ['live', 'none']) await t.rejects(store.revoke(key, 60), { message: /^OOM/ }, key)
  await client.config('SET', 'maxmemory', '0')
  t.equal(await store.put('none', 'value', 60), true)
  t.equal(await store.revoke('live', 60), 'value')
})

t.test('Redis: of a key that is revoked twice the last lifetime counts', async (t) => {
  const { client, url } = await startRedis(t)
  const store = storeOn(t, url, 'p:')
  await store.revoke('key', 60)
  t.equal(await store.revoke('key', 30), null, 'a mark is no live value')
  const left = await client.ttl('p:key')
  t.ok(left > 0 && left <= 30, `${left} s are left`)
})

t.test('PostgreSQL, the store of the examples', async (t) => {
  const { pool, stop } = await startPostgres(t)
  const store = postgresStore(pool)
  await createTable(pool)
  await t.resolves(createTable(pool), 'the table may exist')
  await t.resolves(checkStore(store))

  await pool.query('TRUNCATE partner_sso')
  await store.put('expired', 'value', 0)
  await store.revoke('expired mark', 0)
  await store.put('live', 'value', 60)
  await store.revoke('revoked', 60)
  t.equal(await deleteExpired(pool), 2)
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM partner_sso ORDER BY key')
  t.strictSame(rows.map(({ key }) => key), ['live', 'revoked'], 'expired rows are deleted, and no others')

  await t.test('stopped: checkStore says so, and a sign-in is temporarily unavailable', async (t) => {
    const { url } = await startApp(t, { options: { store } })
    await stop()
    // A connection that the pool has kept may end only now; a new one is refused.
    const cause = /^The store cannot be used: Error: (?:Connection terminated|connect ECONNREFUSED)/
    await t.rejects(checkStore(store), { message: cause })
    t.equal((await wire(url).authorize()).redirect.get('error'), 'temporarily_unavailable')
  })
})
