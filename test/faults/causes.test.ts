// What the log says of a store's failure: always something, never a key, value or password.
import { advance } from './clock.ts'
import t from 'tap'
import type { Store } from '../../lib/index.ts'
import { startRedis } from '../helpers/redis.ts'
import { NOTHING, scene, signIn, unavailable, unavailableLines, until } from './scene.ts'
import type { Scene } from './scene.ts'

/** Milliseconds, which pass by `advance`: until the client of the plugin connects again. */
const RECONNECT_AFTER = 10_000

const working: Store = { put: async () => true, take: async () => null, revoke: async () => false }

t.test('a store that holds a key that was never used: an error of the host, not a store that is away', async (t) => {
  const host = await scene(t, { store: { ...working, put: async () => false } })
  const answer = await host.portal.authorize()
  t.equal(answer.redirect.get('error'), 'server_error')
  const logged = host.log.find(({ level, event }) => level === 50 && event === 'request_rejected')
  t.match(logged, { event: 'request_rejected', reason: 'internal_error', err: /never used/ })
})

t.test('a store that throws what is no error', async (t) => {
  const thrown: unknown = 'the cupboard is locked'
  const host = await scene(t, { store: { ...working, put: async () => { throw thrown } } })
  t.equal((await host.portal.authorize()).redirect.get('error'), 'temporarily_unavailable')
  t.match(unavailableLines(host), [{ cause: 'the cupboard is locked' }])
})

/** Sends requests until the last line has the cause. */
async function isNamed (host: Scene, cause: RegExp): Promise<boolean> {
  return await until(async () => {
    await host.portal.authorize()
    return cause.test(String(unavailableLines(host).at(-1)?.cause))
  })
}

t.test('connections end without an error, and the server is gone: its address, and the cause once known', async (t) => {
  const redis = await startRedis(t)
  const password = 'hush-hush'
  await redis.client.config('SET', 'requirepass', password)
  await redis.client.auth(password)
  let ended = (): void => {}
  const end = new Promise<void>((resolve) => { ended = resolve })
  const retryStrategy = () => {
    ended()
    return RECONNECT_AFTER
  }
  const host = await scene(t, { redis: { host: '127.0.0.1', port: redis.port, password, retryStrategy } })
  await signIn(t, host)
  await redis.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await end
  redis.process.kill('SIGKILL')
  t.ok(await until(() => redis.process.signalCode !== null))
  await unavailable(t, host, NOTHING)
  await advance(RECONNECT_AFTER)
  const address = `127.0.0.1:${redis.port}`
  t.ok(await isNamed(host, new RegExp(`^Redis is not connected \\(\\w+, ${address}\\): connect ECONNREFUSED`)))
  t.equal(unavailableLines(host).length, 2)
  t.match(unavailableLines(host)[0], { cause: `Redis is not connected (reconnecting, ${address})` })
  t.notMatch(JSON.stringify(host.log), password)
})

t.test('rediss:// to a Redis that does not speak TLS: said so, without the password', async (t) => {
  const redis = await startRedis(t)
  // Redis reads the handshake as the beginning of a command. ioredis gives up after a second.
  const host = await scene(t, { redis: `rediss://:hush-hush@127.0.0.1:${redis.port}`, storeTimeout: 100 })
  t.ok(await isNamed(host, /^Redis is not connected .*: connect ETIMEDOUT \(rediss:\/\/: does the port speak TLS\?\)$/))
  t.notMatch(JSON.stringify(host.log), 'hush-hush')
})
