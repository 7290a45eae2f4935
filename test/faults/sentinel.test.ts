// Redis with Sentinel: a failover because the master dies, and one because it hangs.
import { Redis } from 'ioredis'
import t from 'tap'
import { redisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { DOWN_AFTER, startSentinel } from '../helpers/sentinel.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { changesOnce, goods, recovered, scene, stillGood, unavailable, until } from './scene.ts'

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  t.test(`failover after the master got ${signal}`, async (t) => {
    const { master, replica, options, masterPort } = await startSentinel(t)
    const client = new Redis(options)
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    await client.ping()
    await t.resolves(checkStore(withTimeLimit(redisStore(client, 'partner-sso:'), 5000)))

    const host = await scene(t, { redis: options })
    const [left, kept] = [await goods(host), await goods(host)]
    await master.client.wait(1, 1000)
    master.process.kill(signal)
    const start = performance.now()
    await unavailable(t, host, left, `Sentinel, ${signal}`)
    await unavailable(t, host, kept, `Sentinel, ${signal}`)
    t.ok(await until(async () => await host.ready(), 30_000), 'ready again')
    t.comment(`failover: ${(performance.now() - start).toFixed(0)} ms with down-after-milliseconds ${DOWN_AFTER}`)
    t.equal(await masterPort(), replica.port, 'on what was the replica')
    await stillGood(t, host, kept)
    await recovered(t, host)
    const requests = host.events.filter(({ type }) => type === 'store_unavailable').length
    changesOnce(t, host, /Redis|Connection/, requests)
    master.process.kill('SIGCONT')
  })
}

t.test('a Sentinel that hangs is passed over', async (t) => {
  const { sentinels, options } = await startSentinel(t)
  sentinels[0]?.process.kill('SIGSTOP')
  const host = await scene(t, { redis: options })
  await recovered(t, host)
  sentinels[0]?.process.kill('SIGCONT')
})
