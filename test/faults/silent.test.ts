// Redis accepts connections and says nothing, or speaks too late.
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import {
  changesOnce, goods, MARGIN, recovered, scene, stillGood, STORE_TIMEOUT, unavailable, until, usedUp, watch
} from './scene.ts'

t.test('stopped (SIGSTOP): what has left is unknown; what comes later never leaves and stays good', async (t) => {
  const redis = await startRedis(t)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: redis.url })
  const [left, kept, keptToo] = [await goods(host), await goods(host), await goods(host)]
  const before = seen.length
  redis.process.kill('SIGSTOP')
  await unavailable(t, host, left, 'stopped, first')
  await unavailable(t, host, kept, 'stopped, later')
  // Long enough for the connection to be given up and made anew.
  await sleep(3 * STORE_TIMEOUT)
  await unavailable(t, host, keptToo, 'stopped, reconnecting')
  redis.process.kill('SIGCONT')
  t.ok(await until(async () => await host.ready()), 'ready again')
  t.strictSame(seen.slice(before).map(([name]) => name).sort(), ['getdel', 'getdel', 'set'], 'Redis got no command but the three that had left')
  await stillGood(t, host, kept)
  await stillGood(t, host, keptToo)
  await usedUp(t, host, left)
  await recovered(t, host)
  changesOnce(t, host, /did not answer in time/, 9)
})

t.test('slower than storeTimeout: the same, and it comes back when Redis is fast again', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  const [left, kept] = [await goods(host), await goods(host)]
  const before = seen.length
  proxy.delay = 1.5 * STORE_TIMEOUT
  await unavailable(t, host, left, 'slow, first')
  await unavailable(t, host, kept, 'slow, later')
  t.equal(seen.length - before, 3, 'only the first three were sent')
  proxy.delay = 0
  t.ok(await until(async () => await host.ready()), 'ready again')
  await stillGood(t, host, kept)
  await usedUp(t, host, left)
  await recovered(t, host)
  changesOnce(t, host, /did not answer in time/, 6)
})

t.test('slow, but not too slow: all is well', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  proxy.delay = STORE_TIMEOUT / 2
  await recovered(t, host)
})

t.test('a stall of the host itself is no timeout: answers that have come are read first', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  // Redis answers in the middle of the stall.
  await redis.client.client('PAUSE', 100, 'ALL')
  const answer = host.portal.authorize()
  await until(() => host.log.some(({ msg }) => msg === 'incoming request'))
  block(STORE_TIMEOUT + MARGIN)
  t.ok((await answer).redirect.get('code'))
  t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0)
})

function block (milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}
