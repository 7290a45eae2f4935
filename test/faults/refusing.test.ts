// Redis answers, and refuses.
import t from 'tap'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import {
  changesOnce, goods, NOTHING, readyAgain, recovered, scene, signIn, stillGood, unavailable, until
} from './scene.ts'

t.test('READONLY: the master has become a replica', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  const kept = await goods(host)
  await redis.client.replicaof('127.0.0.1', 1)
  await unavailable(t, host, kept, 'read-only replica')
  await unavailable(t, host, kept, 'read-only replica')
  await redis.client.replicaof('NO', 'ONE')
  await readyAgain(t, host)
  await stillGood(t, host, kept)
  await recovered(t, host)
  changesOnce(t, host, /READONLY|not connected/, 6)
})

t.test('LOADING: Redis reads its data after a restart', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-loading-'))
  t.teardown(async () => { await rm(directory, { recursive: true, force: true }) })
  const settings = ['--dir', directory, '--loading-process-events-interval-bytes', '1024', '--rdbcompression', 'no']
  const redis = await startRedis(t, settings)
  await redis.client.eval('for i = 1, 1000 do redis.call("SET", "filler" .. i, string.rep("x", 1100)) end', 0)
  // A client without ready check gets to hear of it; the plugin's own does not ask before it is over.
  const client = new Redis(redis.port, { enableReadyCheck: false, retryStrategy: () => 20 })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  const [host, other] = [await scene(t, { redis: redis.url }), await scene(t, { redis: client })]
  const kept = await goods(host)
  const keptToo = await goods(other)
  await redis.client.save()
  redis.process.kill('SIGKILL')
  await until(() => redis.process.signalCode !== null)
  const loading = startRedis(t, [...settings, '--key-load-delay', '50000'], redis.port)
  t.ok(await until(() => client.status === 'ready'))
  await unavailable(t, host, kept, 'loading')
  await unavailable(t, other, keptToo, 'loading, no ready check')
  await unavailable(t, other, keptToo, 'loading, no ready check')
  await client.config('SET', 'key-load-delay', '0')
  await loading
  for (const [each, goods] of [[host, kept], [other, keptToo]] as const) {
    await readyAgain(t, each)
    await stillGood(t, each, goods)
    await recovered(t, each)
  }
  changesOnce(t, host, /not connected/, 3)
  changesOnce(t, other, /LOADING/, 6)
})

t.test('OOM: nothing new can be stored; what is there can be used', async (t) => {
  const redis = await startRedis(t, ['--maxmemory-policy', 'noeviction'])
  const host = await scene(t, { redis: redis.url })
  const { code, token } = await goods(host)
  await redis.client.config('SET', 'maxmemory', '1')
  t.equal(await host.ready(), false)
  t.equal((await host.portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  t.equal((await host.portal.user(token)).status, 200, 'the token is taken')
  const refused = await host.portal.token({ code })
  t.equal(refused.status, 503, 'the code is taken, and no token can be stored: the sign-in starts again')
  await redis.client.config('SET', 'maxmemory', '0')
  await recovered(t, host)
  t.equal((await host.portal.token({ code })).status, 400)
})

t.test('no permission: taken away while it runs', async (t) => {
  const redis = await startRedis(t)
  await redis.client.call('ACL', 'SETUSER', 'sso', 'on', '>pass', '~*', '+@all')
  const host = await scene(t, { redis: `redis://sso:pass@127.0.0.1:${redis.port}` })
  const kept = await goods(host)
  await redis.client.call('ACL', 'SETUSER', 'sso', '-getdel', '-set')
  await unavailable(t, host, kept, 'no permission')
  await unavailable(t, host, kept, 'no permission')
  await redis.client.call('ACL', 'SETUSER', 'sso', '+getdel', '+set')
  await readyAgain(t, host)
  await stillGood(t, host, kept)
  await recovered(t, host)
  changesOnce(t, host, /NOPERM/, 6)
})

t.test('no permission at the start: the start says which command', async (t) => {
  const redis = await startRedis(t)
  await redis.client.call('ACL', 'SETUSER', 'sso', 'on', '>pass', '~*', '+@all', '-getdel')
  await t.rejects(scene(t, { redis: `redis://sso:pass@127.0.0.1:${redis.port}` }), {
    message: /Redis refuses a command that is needed.*getdel/i
  })
})

t.test('GETDEL is renamed away, or Redis is older than 6.2: the start says so', async (t) => {
  const redis = await startRedis(t, ['--rename-command', 'GETDEL', ''])
  await t.rejects(scene(t, { redis: redis.url }), { message: /Redis 6\.2 or later.*unknown command 'getdel'/i })
})

t.test('older than 6.2, seen only later: refused and logged', async (t) => {
  const port = await freePort()
  const host = await scene(t, { redis: `redis://127.0.0.1:${port}` })
  await startRedis(t, ['--rename-command', 'GETDEL', ''], port)
  t.ok(await until(async () => (await host.portal.authorize()).redirect.has('code')), 'a code can be stored')
  t.equal(await host.ready(), false, 'but not taken')
  t.equal((await host.portal.token({ code: await host.portal.code() })).status, 503)
  const causes = host.log.filter(({ level }) => level === 50).map(({ cause }) => cause)
  t.match(causes.at(-1), /unknown command 'getdel'/i)
  t.notMatch(causes.at(-1), /args/, 'no key is in the log')
})

t.test('a wrong password, or none: named in the log, and cured without a restart', async (t) => {
  const redis = await startRedis(t)
  await redis.client.config('SET', 'requirepass', 'new password')
  await redis.client.auth('new password')
  const wrong = await scene(t, { redis: `redis://:old@127.0.0.1:${redis.port}` })
  const none = await scene(t, { redis: redis.url })
  for (const host of [wrong, none]) {
    const before = await connections(redis.client)
    t.ok(await until(async () => await connections(redis.client) >= before + 3), 'it has tried again several times')
    await unavailable(t, host, NOTHING, 'refused')
  }
  await redis.client.config('SET', 'requirepass', 'old')
  await recovered(t, wrong)
  changesOnce(t, wrong, /not connected.*WRONGPASS/, 3)
  await redis.client.config('SET', 'requirepass', '')
  await recovered(t, none)
  changesOnce(t, none, /NOAUTH/, 3)
})

const RIGHTS = ['+set', '+getdel', '+eval', '+sadd', '+expire', '+info']

t.test('a user with no more rights than are needed; without any of them the start says so', async (t) => {
  const redis = await startRedis(t)
  const url = `redis://sso:pass@127.0.0.1:${redis.port}`
  const allow = async (rights: string[]) =>
    await redis.client.call('ACL', 'SETUSER', 'sso', 'reset', 'on', '>pass', '~partner-sso:*', ...rights)
  await allow(RIGHTS)
  const host = await scene(t, { redis: url })
  await signIn(t, host)
  const code = await host.portal.code()
  const { access_token: token } = (await host.portal.token({ code })).json
  t.equal((await host.portal.token({ code })).status, 400)
  t.equal((await host.portal.user(token)).status, 401, 'a replay revokes')
  for (const missing of RIGHTS.slice(0, 5)) {
    await allow(RIGHTS.filter((right) => right !== missing))
    await t.rejects(scene(t, { redis: url }), { message: /Redis refuses a command that is needed/ }, missing)
  }
})

t.test('read-only, or out of memory, at the start: the app starts, and serves when that is over', async (t) => {
  const redis = await startRedis(t)
  for (const [begin, end] of [
    [() => redis.client.replicaof('127.0.0.1', 1), () => redis.client.replicaof('NO', 'ONE')],
    [() => redis.client.config('SET', 'maxmemory', '1'), () => redis.client.config('SET', 'maxmemory', '0')]
  ] as const) {
    await begin()
    const host = await scene(t, { redis: redis.url })
    t.equal(await host.ready(), false)
    await end()
    await recovered(t, host)
  }
})

/** How many connections the server has accepted so far. */
async function connections (client: Redis): Promise<number> {
  return Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1])
}
