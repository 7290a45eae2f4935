// Passwords that live for minutes, as those of AWS IAM, Entra and Google Cloud: the host renews them where it keeps
// them, and the plugin's next connection has the new one.
import t from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { recovered, scene, signIn } from './outages.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { libraries, ofTest } from '../helpers/redis-clients.ts'
import { until } from '../helpers/until.ts'

/** Has the server know one password of the user, and no connections that an earlier one opened. */
async function setPassword ({ client }: RedisServer, password: string): Promise<void> {
  await client.call('ACL', 'SETUSER', 'sso', 'reset', 'on', `>${password}`, '~*', '+@all')
  await client.call('CLIENT', 'KILL', 'USER', 'sso')
}

let password = ''

/** What a host gives as `redis`, and where it renews the password of the user `sso`. */
const ways: Record<string, (port: number) => { redis: any, renew: (next: string) => void }> = {
  'options with a getter': (port) => ({
    redis: { host: '127.0.0.1', port, username: 'sso', get password () { return password } },
    renew (next) { password = next }
  }),
  'options that change': (port) => {
    const redis = { host: '127.0.0.1', port, username: 'sso', password }
    return { redis, renew (next) { redis.password = next } }
  },
  ...Object.fromEntries(Object.entries(libraries).map(([name, { Redis }]) => [`a client of ${name}`, (port: number) => {
    const redis = new Redis({ host: '127.0.0.1', port, username: 'sso', password, lazyConnect: true })
    return { redis, renew (next: string) { Object.assign(redis.options, { password: next }) } }
  }]))
}

t.test('a new password: signed in at the first request after the connection was lost', async (t) => {
  const server = await startRedis(t)
  for (const [name, way] of Object.entries(ways)) {
    await setPassword(server, password = 'first')
    const { redis, renew } = way(server.port)
    if (redis.disconnect !== undefined) ofTest(t, redis)
    const host = await scene(t, { redis })
    await signIn(t, host)
    for (const next of ['second', 'third']) {
      renew(next)
      await setPassword(server, next)
      await signIn(t, host)
    }
    t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0, name)
    await host.close()
  }
})

t.test('a new password of a Cluster: signed in when its node is connected to again', async (t) => {
  const server = await startRedis(t, ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'])
  await server.client.cluster('ADDSLOTSRANGE', 0, 16383)
  await until(async () => String(await server.client.cluster('INFO')).includes('cluster_state:ok'))
  for (const [name, { Cluster }] of Object.entries(libraries)) {
    await setPassword(server, 'first')
    const redisOptions = { username: 'sso', password: 'first' }
    const nodes = [{ host: '127.0.0.1', port: server.port }]
    const host = await scene(t, { redis: ofTest(t, new Cluster(nodes, { redisOptions, lazyConnect: true })) })
    await signIn(t, host)
    for (const next of ['second', 'third']) {
      redisOptions.password = next
      await setPassword(server, next)
      await recovered(t, host)
    }
    t.pass(name)
    await host.close()
  }
})

/** Milliseconds before each attempt to connect, at first. */
const DELAYS = [50, 100, 150, 200, 250]

t.test('a wrong password: each attempt to connect waits longer', async (t) => {
  const { port, ...server } = await startRedis(t)
  await setPassword({ port, ...server }, 'right')
  for (const [name, { Redis }] of Object.entries(libraries)) {
    const delays = t.capture(globalThis, 'setTimeout', globalThis.setTimeout)
    const options = { host: '127.0.0.1', port, username: 'sso', password: 'wrong', lazyConnect: true }
    const store = new RedisStore(ofTest(t, new Redis(options)), '', 1000)
    t.teardown(() => store.close())
    const seen: number[] = []
    await until(() => {
      seen.push(...delays().map(({ args: [, delay] }) => Number(delay)).filter((delay) => DELAYS.includes(delay)))
      return seen.includes(250)
    })
    t.strictSame(seen, DELAYS, name)
    delays.restore()
    store.close()
  }
})
