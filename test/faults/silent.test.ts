// Redis accepts connections and says nothing, or answers too late.
import { advance, STORE_TIMEOUT, turns } from './clock.ts'
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import { startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import {
  allLeft, changesOnce, goods, names, NOTHING, readyAgain, recovered, scene, signIn, stillGood, timedOut, unavailable,
  unavailableLines, until, usedUp, watch
} from './scene.ts'

t.test('stopped: what was sent is unknown; what comes later is never sent and stays good', async (t) => {
  const redis = await startRedis(t)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: redis.url })
  const [left, kept, keptToo] = [await goods(host), await goods(host), await goods(host)]
  await seen.commands()
  redis.process.kill('SIGSTOP')
  await timedOut(t, host, left, 'stopped, first')
  await unavailable(t, host, kept, 'stopped, later')
  // The connection is given up and made anew.
  await advance(2 * STORE_TIMEOUT)
  await unavailable(t, host, keptToo, 'stopped, reconnecting')
  redis.process.kill('SIGCONT')
  await readyAgain(t, host)
  t.strictSame(names(await seen.commands()), ['getdel', 'getdel', 'set'], 'Redis got the first three commands only')
  await stillGood(t, host, kept)
  await stillGood(t, host, keptToo)
  await usedUp(t, host, left)
  await recovered(t, host)
  changesOnce(t, host, /did not respond in time/, 9)
})

t.test('slower than storeTimeout: the same, and it comes back when Redis is fast again', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  const [left, kept] = [await goods(host), await goods(host)]
  await seen.commands()
  proxy.delay = 1.5 * STORE_TIMEOUT
  await timedOut(t, host, left, 'slow, first')
  await unavailable(t, host, kept, 'slow, later')
  t.equal((await seen.commands()).length, 3, 'only the first three were sent')
  proxy.delay = 0
  await advance(STORE_TIMEOUT)
  await readyAgain(t, host)
  await stillGood(t, host, kept)
  await usedUp(t, host, left)
  await recovered(t, host)
  changesOnce(t, host, /did not respond in time/, 6)
})

t.test('slow, but not too slow: all requests succeed', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  // The token request needs two answers.
  proxy.delay = STORE_TIMEOUT / 3
  let replies = 0
  proxy.onReply = (bytes) => {
    replies++
    return bytes
  }
  const signedIn = signIn(t, host)
  for (let passed = 0; passed < 4; passed++) {
    await until(() => replies > passed)
    await turns()
    await advance(proxy.delay)
  }
  await signedIn
  t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0)
})

t.test('the time limit is a real one', async (t) => {
  const redis = await startRedis(t)
  const client = new Redis(redis.port)
  t.teardown(() => client.disconnect())
  await client.ping()
  redis.process.kill('SIGSTOP')
  const start = performance.now()
  // The start waits for the store, and so does a request.
  const host = await scene(t, { redis: client, storeTimeout: 20 })
  await unavailable(t, host, NOTHING, 'stopped')
  t.ok(performance.now() - start < STORE_TIMEOUT, 'only what hangs takes so long')
  t.match(unavailableLines(host)[0], { cause: /did not respond in time|not connected in time/ })
  redis.process.kill('SIGCONT')
})

t.test('a stall of the host itself is no timeout: answers that have arrived are read first', async (t) => {
  const redis = await startRedis(t)
  const host = await scene(t, { redis: redis.url })
  await redis.client.client('PAUSE', 1e6, 'WRITE')
  const answer = host.portal.authorize()
  await allLeft(host, 1)
  // After a stall of the event loop the timers run first.
  await sleep(1)
  // Redis answers in the middle of the stall; when it answers the last command, it has answered the plugin's.
  for (const command of [['CLIENT', 'UNPAUSE'], ['PING'], ['PING']]) {
    execFileSync('redis-cli', ['-p', String(redis.port), ...command])
  }
  await advance(STORE_TIMEOUT)
  t.ok((await answer).redirect.get('code'))
  t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0)
})
