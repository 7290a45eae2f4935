// The connection breaks while a command is on its way, or its reply.
import t from 'tap'
import { pass, startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import {
  allLeft, changesOnce, goods, recovered, scene, stillGood, unavailable, until, usedUp, watch
} from './scene.ts'

t.test('the reply is lost after the command ran: never sent again, never read as an unknown code', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  const lost = await goods(host)
  await seen.commands()
  proxy.onReply = () => 'swallow'
  const refused = unavailable(t, host, lost, 'reply lost')
  t.ok(await until(() => seen.count === 3), 'all three commands have run')
  const keys = (await seen.commands()).map(([_name, key]) => key)
  proxy.onReply = pass
  proxy.cut()
  await refused
  await recovered(t, host)
  const later = await seen.commands()
  t.notOk(later.some(([_name, key]) => keys.includes(key)), 'none of them ran again')
  await usedUp(t, host, lost)
  changesOnce(t, host, /connect|lost/i, 3)
})

t.test('reset in the middle of a command: Redis never saw a whole one, and it is not sent again', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const seen = await watch(t, redis.client)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  const torn = await goods(host)
  await seen.commands()
  let passed = false
  proxy.onRequest = (bytes) => {
    if (passed) return 'cut'
    passed = true
    setImmediate(() => proxy.cut())
    return bytes.subarray(0, 20)
  }
  const before = host.requests.length
  const refused = unavailable(t, host, torn, 'reset mid-command')
  await allLeft(host, before + 3)
  t.ok(passed)
  proxy.onRequest = pass
  await refused
  t.strictSame(await seen.commands(), [], 'Redis executed nothing')
  await recovered(t, host)
  await stillGood(t, host, torn)
  changesOnce(t, host, /connect|lost/i, 3)
})
