// Where Redis refuses SELECT, a client goes on in database 0. The plugin uses the database that was named, or none.
import { Redis } from 'ioredis'
import t from 'tap'
import type { Test } from 'tap'
import { areLogged, issue, NEVER_ISSUED, readyAgain, scene, stillGood, unavailable } from './outages.ts'
import { startProxy } from './proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { libraries, ofTest } from '../helpers/redis-clients.ts'
import type { AnyClient } from '../helpers/redis-clients.ts'
import { until } from '../helpers/until.ts'

interface Login { port: number, username?: string, password?: string, db: number }

/** What a host gives as `redis`: a URL, or a client of each library. */
const ways: Record<string, (login: Login) => string | AnyClient> = {
  'a URL': ({ port, username = '', password = '', db }) => `redis://${username}:${password}@127.0.0.1:${port}/${db}`,
  ...Object.fromEntries(Object.entries(libraries).map(([name, { Redis }]) => [name, (login) => new Redis(login)]))
}

/** Gives what the host's way gives; a client ends with the test. */
function given (t: Test, way: (login: Login) => string | AnyClient, login: Login): string | AnyClient {
  const redis = way(login)
  return typeof redis === 'string' ? redis : ofTest(t, redis)
}

/** The databases of the server that hold a key. */
async function databases ({ client }: RedisServer): Promise<string[]> {
  return [...(await client.info('keyspace')).matchAll(/^(db\d+):/gm)].map(([, name = '']) => name)
}

/** Sets what the user `sso` may do: no more than the plugin's commands, and these rights. */
const setRights = async ({ client }: RedisServer, ...rights: string[]): Promise<unknown> =>
  await client.call('ACL', 'SETUSER', 'sso', 'reset', 'on', '>pass', '~partner-sso:*', '+set', '+getdel', '+ping',
    ...rights)

t.test('at the start: a database that does not exist, or a user without SELECT, ends the start at once', async (t) => {
  const redis = await startRedis(t)
  const { port } = redis
  await setRights(redis)
  const user = { username: 'sso', password: 'pass' }
  for (const [name, way] of Object.entries(ways)) {
    // The clock of a scene stands still until a test sets it forward, so it is no time limit that ends the start.
    await t.rejects(scene(t, { redis: given(t, way, { port, db: 99 }) }), {
      message: /^partner-sso: Redis refuses SELECT of the database that "redis" names .*: ERR DB index is out of range/
    }, `${name}: database 99`)
    await t.rejects(scene(t, { redis: given(t, way, { port, db: 5, ...user }) }), {
      message: /^partner-sso: Redis refuses SELECT of the database that "redis" names .*: NOPERM .*select/
    }, `${name}: no right to SELECT`)
  }
  t.strictSame(await databases(redis), [], 'nothing is written to database 0')
})

t.test('a sign-in writes to the database that the host named', async (t) => {
  const redis = await startRedis(t)
  for (const [name, way] of Object.entries(ways)) {
    await redis.client.flushall()
    await issue(await scene(t, { redis: given(t, way, { port: redis.port, db: 5 }) }))
    t.strictSame(await databases(redis), ['db5'], name)
  }
})

t.test('at a later connection: an outage, until the database is the named one', async (t) => {
  const redis = await startRedis(t)
  const { client } = redis
  for (const [name, way] of Object.entries(ways)) {
    await client.flushall()
    await setRights(redis, '+select')
    const login = { port: redis.port, username: 'sso', password: 'pass', db: 3 }
    const host = await scene(t, { redis: given(t, way, login) })
    const kept = await issue(host)
    // The user may not SELECT any more, and has to connect again.
    await setRights(redis)
    await client.call('CLIENT', 'KILL', 'USER', 'sso')
    await until(async () => (await host.portal.token({ code: NEVER_ISSUED.code })).status === 503)
    // It is connected again, and SELECT is refused.
    await until(() => host.log.some(({ cause }) => /^NOPERM .*select/.test(String(cause))))
    await unavailable(t, host, kept, name)
    t.equal(await host.ready(), false, name)
    await setRights(redis, '+select')
    await readyAgain(t, host)
    await stillGood(t, host, kept)
    t.strictSame(await databases(redis), ['db3'], name)
  }
})

t.test('BUSY at a reconnection: an outage, and then the named database', async (t) => {
  const redis = await startRedis(t, ['--lua-time-limit', '1'])
  const proxy = await startProxy(t, redis.port)
  const script = ofTest(t, new Redis(redis.port))
  for (const [name, way] of Object.entries(ways)) {
    const host = await scene(t, { redis: given(t, way, { port: proxy.port, db: 3 }) })
    const kept = await issue(host)
    const running = script.eval('while true do end', 0).catch(() => {})
    await until(async () => await redis.client.ping().then(() => false, ({ message }: Error) => /BUSY/.test(message)))
    proxy.cut()
    await until(async () => (await host.portal.token({ code: NEVER_ISSUED.code })).status === 503)
    const before = host.events.length
    await unavailable(t, host, kept, name)
    t.equal(host.events.length, before + 3, name)
    await redis.client.script('KILL')
    await running
    await readyAgain(t, host)
    await stillGood(t, host, kept)
    await areLogged(t, host, /^BUSY/, host.events.filter(({ type }) => type === 'store_unavailable').length)
    t.strictSame(await databases(redis), ['db3'], name)
  }
})
