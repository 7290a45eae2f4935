// The client is the host's own, with whatever settings it has for its own commands: the plugin's are sent once at most
// all the same, and not after their callers have given up.
import { advance, STORE_TIMEOUT } from './clock.ts'
import t from 'tap'
import type { Test } from 'tap'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { pass, startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import {
  allLeft, changesOnce, goods, names, NOTHING, readyAgain, recovered, scene, signIn, stillGood, timedOut, unavailable,
  unavailableLines, until, usedUp, watch
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
  'a socketTimeout': { socketTimeout: 2 * STORE_TIMEOUT },
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
    const host = await scene(t, { redis: client, keyPrefix })
    return { name, keyPrefix: (options.keyPrefix ?? '') + keyPrefix, client, host }
  }))
}

t.test('Redis is stopped, and wakes up', async (t) => {
  const redis = await startRedis(t)
  const seen = await watch(t, redis.client)
  const all = await Promise.all((await hosts(t, redis.port)).map(async (each) => {
    return { ...each, left: await goods(each.host), kept: await goods(each.host) }
  }))
  await seen.commands()
  redis.process.kill('SIGSTOP')
  for (const { name, host, left } of all) await timedOut(t, host, left, `stopped, ${name}`)
  for (const { name, host, kept } of all) await unavailable(t, host, kept, `still stopped, ${name}`)
  redis.process.kill('SIGCONT')
  for (const { name, host } of all) await readyAgain(t, host, name)
  const commands = await seen.commands()
  for (const { name, keyPrefix } of all) {
    const own = commands.filter(([, key]) => key?.startsWith(keyPrefix))
    t.strictSame(names(own), ['getdel', 'getdel', 'set'], `${name}: only what was sent before`)
  }
  for (const { name, host, left, kept } of all) {
    await t.test(name, async (t) => {
      await stillGood(t, host, kept)
      await usedUp(t, host, left)
      await recovered(t, host)
      changesOnce(t, host, /did not respond in time|timed out/, 6)
    })
  }
})

t.test('replies are lost after the commands ran', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const all = await Promise.all((await hosts(t, proxy.port)).map(async (each) => {
    return { ...each, lost: await goods(each.host) }
  }))
  await seen.commands()
  proxy.onReply = () => 'cut'
  const refused = all.map(({ name, host, lost }) => unavailable(t, host, lost, `reply lost, ${name}`))
  for (const { host } of all) await allLeft(host, 3 + 3)
  // A client without retries forgets what it has sent.
  await advance(STORE_TIMEOUT)
  await Promise.all(refused)
  proxy.onReply = pass
  for (const { name, host } of all) await readyAgain(t, host, name)
  const commands = await seen.commands()
  for (const { name, keyPrefix } of all) {
    const own = commands.filter(([, key]) => key?.startsWith(keyPrefix)).map(([name, key]) => `${name} ${key}`)
    t.ok(own.length >= 1 && own.length <= 3, name)
    t.equal(new Set(own).size, own.length, `${name}: nothing ran twice`)
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
    'subscriber mode': {
      client: await client({ protocol: 2 }, (client) => client.subscribe('news')),
      cause: /subscriber mode/
    },
    closed: {
      client: await client({}, async (client) => { await client.quit() }),
      cause: /not connected \((?:end|close), localhost:\d+\)$/
    },
    monitoring: {
      client: await client({}, () => {}).then(async (client) => await client.monitor()),
      cause: /not connected \(monitoring, localhost:\d+\)$/
    }
  }
  for (const [name, { client, cause }] of Object.entries(cases)) {
    t.teardown(() => client.disconnect())
    // The start waits for the client, though in vain.
    const host = await scene(t, { redis: client, storeTimeout: 100 })
    await unavailable(t, host, NOTHING, name)
    t.match(unavailableLines(host)[0], { cause })
    t.equal(await host.ready(), false)
  }
})

t.test('a silent connection is sent nothing at all, however many ask', async (t) => {
  const redis = await startRedis(t)
  const client = new Redis(redis.port)
  t.teardown(() => client.disconnect())
  const host = await scene(t, { redis: client })
  redis.process.kill('SIGSTOP')
  await timedOut(t, host, NOTHING)
  for (let round = 0; round < 50; round++) {
    t.equal((await host.portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  }
  redis.process.kill('SIGCONT')
  await readyAgain(t, host)
  t.notMatch(await redis.client.info('commandstats'), /cmdstat_ping:calls=\d{2}/)
})

t.test('the client is neither reconfigured nor closed', async (t) => {
  const redis = await startRedis(t)
  const client = new Redis(redis.port)
  t.teardown(() => client.disconnect())
  await client.ping()
  const listenersOf = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
  const [options, listeners] = [JSON.stringify(client.options), listenersOf()]
  const host = await scene(t, { redis: client })
  await signIn(t, host)
  t.equal(JSON.stringify(client.options), options)
  t.strictSame(listenersOf(), listeners)
  await host.close()
  t.equal(client.status, 'ready')
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
