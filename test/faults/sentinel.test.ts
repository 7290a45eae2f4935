// Redis with Sentinel: a failover because the master dies, one because it hangs, and a Sentinel that hangs.
import './clock.ts'
import { Redis } from 'ioredis'
import { once } from 'node:events'
import t from 'tap'
import { RedisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startSentinel } from './sentinel.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { failedOver, goods, outages, scene, signIn, stillGood, timedOut, unavailable, until } from './scene.ts'

const [toKill, toStop, toPassOver] = await Promise.all([startSentinel(t), startSentinel(t), startSentinel(t)])

for (const [signal, sentinel] of [['SIGKILL', toKill], ['SIGSTOP', toStop]] as const) {
  t.test(`failover after the master got ${signal}`, async (t) => {
    const { master, replica, options, masterPort, failOver } = sentinel
    const client = new Redis(options)
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    await client.ping()
    await t.resolves(checkStore(withTimeLimit(new RedisStore(client, 'partner-sso:', 1000))))

    const host = await scene(t, { redis: options })
    t.ok(await until(() => host.ready()), 'ready')
    const [left, kept] = [await goods(host), await goods(host)]
    t.equal(await master.client.wait(1, 0), 1)
    master.process.kill(signal)
    if (signal === 'SIGSTOP') {
      await timedOut(t, host, left)
    } else {
      await once(master.process, 'exit')
      await unavailable(t, host, left)
    }
    await unavailable(t, host, kept)
    await failOver()
    await failedOver(t, host)
    t.equal(await masterPort(), replica.port, 'on what was the replica')
    await stillGood(t, host, kept)
    await signIn(t, host)
    // Sentinel closes the connections to a server whose role it changes, so the store can be lost more than once.
    t.ok(outages(t, host) >= 1)
    master.process.kill('SIGCONT')
  })
}

t.test('a Sentinel that hangs is passed over', async (t) => {
  const { sentinels, options } = toPassOver
  sentinels[0]?.process.kill('SIGSTOP')
  const host = await scene(t, { redis: options })
  await failedOver(t, host)
  await signIn(t, host)
  sentinels[0]?.process.kill('SIGCONT')
})
