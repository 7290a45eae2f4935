// The store on PostgreSQL of the examples, on a real server.
import t from 'tap'
import { createTable, deleteExpired, postgresStore } from '../../examples/postgres-store.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { recordOf, startHost } from '../helpers/host.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { wire } from '../helpers/wire.ts'

const { pool, stop } = await startPostgres(t)
const store = postgresStore(pool)

t.test('it keeps every promise of a store', async (t) => {
  await createTable(pool)
  await t.resolves(createTable(pool), 'the table may exist')
  await t.resolves(checkStore(store))
})

t.test('expired rows are deleted, and no others', async (t) => {
  await pool.query('TRUNCATE partner_sso')
  await store.put('expired', 'value', 0)
  await store.revoke('ended', 0)
  await store.put('live', 'value', 60)
  await store.revoke('revoked', 60)
  t.equal(await deleteExpired(pool), 2)
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM partner_sso ORDER BY key')
  t.strictSame(rows.map(({ key }) => key), ['live', 'revoked'])
})

t.test('a sign-in, and a replay', async (t) => {
  const { url } = await startHost(t, { store, storeTimeout: 10_000 })
  const portal = wire(url)
  const answer = await portal.user(await portal.accessToken())
  t.equal(answer.status, 200)
  t.strictSame(answer.json, recordOf('alice'))

  const code = await portal.code()
  const token = (await portal.token({ code })).json.access_token
  t.equal((await portal.token({ code })).json.error, 'invalid_grant')
  t.equal((await portal.user(token)).status, 401, 'the replay has revoked the token')
})

t.test('the server is gone: checkStore says that there is no connection, and requests get 503', async (t) => {
  const { url } = await startHost(t, { store, storeTimeout: 10_000 })
  await stop()
  // A connection that the pool kept may not have noticed yet.
  const cause = /^There is no connection to the store: Error: (?:Connection terminated|connect ECONNREFUSED)/
  await t.rejects(checkStore(store), { message: cause })
  const answer = await wire(url).authorize()
  t.equal(answer.redirect.get('error'), 'temporarily_unavailable')
})
