// The client is the host's own, with whatever settings it has for its own commands: the plugin's are sent once at most
// all the same, and not after their callers have given up.
import t, { type Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis, type RedisOptions } from 'ioredis'
import { pass, startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import {
  changesOnce, goods, NOTHING, recovered, scene, signIn, stillGood, STORE_TIMEOUT, unavailable, until, usedUp, watch
} from './scene.ts'

const retryStrategy = () => 20
// Clients of every mapping of replies are one here.
type Options = Omit<RedisOptions, 'replyMapping'>

const settings: Record<string, Options> = {
  defaults: {},
  'no offline queue': { enableOfflineQueue: false },
  'endless retries': { maxRetriesPerRequest: null },
  'no retries': { maxRetriesPerRequest: 0 },
  'nothing resent': { autoResendUnfulfilledCommands: false },
  'a short commandTimeout': { commandTimeout: STORE_TIMEOUT / 3 },
  'a long commandTimeout': { commandTimeout: STORE_TIMEOUT * 3 },
  'a socketTimeout': { socketTimeout: STORE_TIMEOUT },
  'lazy connect': { lazyConnect: true },
  RESP2: { protocol: 2 },
  'RESP3 replies': { protocol: 3, replyMapping: 'resp3' } as Options,
  'auto pipelining': { enableAutoPipelining: true },
  'a key prefix': { keyPrefix: 'host:' },
  'another database': { db: 3 },
  'commands resent after any error': { reconnectOnError: () => 2 },
  'no ready check': { enableReadyCheck: false }
}

/** All of them on one Redis, each with a host of its own; kept apart by the key prefix. */
async function hosts (t: Test, port: number) {
  return await Promise.all(Object.entries(settings).map(async ([name, options], index) => {
    const client = new Redis({ port, retryStrategy, ...options })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    const keyPrefix = `sso${index}:`
    return { name, keyPrefix: (options.keyPrefix ?? '') + keyPrefix, client, host: await scene(t, { redis: client, keyPrefix }) }
  }))
}

t.test('Redis is stopped, and wakes up', async (t) => {
  const redis = await startRedis(t)
  const seen = await watch(t, redis.client)
  const all = await Promise.all((await hosts(t, redis.port)).map(async (each) => ({ ...each, left: await goods(each.host), kept: await goods(each.host) })))
  const before = seen.length
  redis.process.kill('SIGSTOP')
  await Promise.all(all.map(async ({ name, host, left }) => { await unavailable(t, host, left, `stopped, ${name}`) }))
  await Promise.all(all.map(async ({ name, host, kept }) => { await unavailable(t, host, kept, `still stopped, ${name}`) }))
  redis.process.kill('SIGCONT')
  for (const { name, keyPrefix, host } of all) {
    t.ok(await until(async () => await host.ready()), `ready again: ${name}`)
    const commands = seen.slice(before).filter(([, key]) => key?.startsWith(keyPrefix))
    t.strictSame(commands.map(([name]) => name).sort(), ['getdel', 'getdel', 'set'], `${name}: only what had left`)
  }
  for (const { name, host, left, kept } of all) {
    await t.test(name, async (t) => {
      await stillGood(t, host, kept)
      await usedUp(t, host, left)
      await recovered(t, host)
      changesOnce(t, host, /did not answer in time|timed out/, 6)
    })
  }
})

t.test('replies are lost after the commands ran', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const all = await Promise.all((await hosts(t, proxy.port)).map(async (each) => ({ ...each, lost: await goods(each.host) })))
  const before = seen.length
  proxy.onReply = () => 'cut'
  setTimeout(() => { proxy.onReply = pass }, STORE_TIMEOUT / 3)
  await Promise.all(all.map(async ({ name, host, lost }) => { await unavailable(t, host, lost, `reply lost, ${name}`) }))
  for (const { name, host } of all) t.ok(await until(async () => await host.ready()), `ready again: ${name}`)
  for (const { name, keyPrefix } of all) {
    const commands = seen.slice(before).filter(([, key]) => key?.startsWith(keyPrefix)).map(([name, key]) => `${name} ${key}`)
    t.ok(commands.length >= 1 && commands.length <= 3, name)
    t.equal(new Set(commands).size, commands.length, `${name}: nothing ran twice`)
  }
  for (const { host } of all) await signIn(t, host)
})

t.test('a client that cannot be used for it: refused, and said so', async (t) => {
  const redis = await startRedis(t)
  const client = async (options: Options, prepare: (client: Redis) => unknown) => {
    const client = new Redis({ port: redis.port, ...options })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    await prepare(client)
    return client
  }
  const cases = {
    'subscriber mode': { client: await client({ protocol: 2 }, (client) => client.subscribe('news')), cause: /subscriber mode/ },
    closed: { client: await client({}, async (client) => { await client.quit() }), cause: /not connected \((?:end|close)\)/ },
    monitoring: { client: await client({}, () => {}).then(async (client) => await client.monitor()), cause: /not connected \(monitoring\)/ }
  }
  for (const [name, { client, cause }] of Object.entries(cases)) {
    t.teardown(() => client.disconnect())
    const host = await scene(t, { redis: client })
    await unavailable(t, host, NOTHING, name)
    t.match(host.log.find(({ msg }) => msg.includes('the store is unavailable')), { cause })
    t.equal(await host.ready(), false)
  }
})

t.test('a silent connection is sent nothing at all, however many ask', async (t) => {
  const redis = await startRedis(t)
  const client = new Redis(redis.port)
  t.teardown(() => client.disconnect())
  const host = await scene(t, { redis: client })
  redis.process.kill('SIGSTOP')
  t.equal(await host.ready(), false)
  for (let round = 0; round < 50; round++) t.equal((await host.portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  redis.process.kill('SIGCONT')
  t.ok(await until(async () => await host.ready()))
  t.notMatch(await redis.client.info('commandstats'), /cmdstat_ping:calls=\d{2}/)
})

t.test('the client is neither reconfigured nor closed', async (t) => {
  const redis = await startRedis(t)
  const client = new Redis(redis.port)
  t.teardown(() => client.disconnect())
  await client.ping()
  const [options, listeners] = [JSON.stringify(client.options), client.eventNames().map((name) => [name, client.listenerCount(name)])]
  const host = await scene(t, { redis: client })
  await signIn(t, host)
  t.equal(JSON.stringify(client.options), options)
  t.strictSame(client.eventNames().map((name) => [name, client.listenerCount(name)]), listeners)
  await host.close()
  await sleep(20)
  t.equal(await client.ping(), 'PONG')
})

t.test('a client of the plugin is closed with the app', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  const clients = async () => (await redis.client.client('LIST') as string).trim().split('\n').length
  const before = await clients()
  await host.close()
  t.ok(await until(async () => await clients() === before - 1))
})
