// The connection breaks while a command is on its way, or its reply.
import t from 'tap'
import { pass, startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import { changesOnce, goods, recovered, scene, stillGood, unavailable, until, usedUp, watch } from './scene.ts'

t.test('the reply is lost after the command ran: never sent again, never read as an unknown code', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  const lost = await goods(host)
  const before = seen.length
  proxy.onReply = () => 'swallow'
  const refused = unavailable(t, host, lost, 'reply lost')
  t.ok(await until(() => seen.length === before + 3), 'all three commands have run')
  proxy.onReply = pass
  proxy.cut()
  await refused
  await recovered(t, host)
  await usedUp(t, host, lost)
  const keys = seen.slice(before).map(([name, key]) => `${name} ${key}`)
  t.equal(new Set(keys.slice(0, 3)).size, 3, 'each of them ran once')
  changesOnce(t, host, /connect|lost|in time/i, 3)
})

t.test('reset in the middle of a command: Redis never saw a whole one, and it is not sent again', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  const torn = await goods(host)
  const before = seen.length
  let passed = false
  proxy.onRequest = (bytes) => {
    if (passed) return 'cut'
    passed = true
    setImmediate(() => proxy.cut())
    return bytes.subarray(0, 20)
  }
  await unavailable(t, host, torn, 'reset mid-command')
  t.ok(passed)
  proxy.onRequest = pass
  t.equal(seen.length, before, 'Redis executed nothing')
  await recovered(t, host)
  await stillGood(t, host, torn)
  changesOnce(t, host, /connect|lost|in time/i, 3)
})
