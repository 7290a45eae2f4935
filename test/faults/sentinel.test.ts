// Redis with Sentinel: a failover because the master dies, and one because it hangs.
import './clock.ts'
import { Redis } from 'ioredis'
import t from 'tap'
import { redisStore } from '../../lib/stores/redis.ts'
import { checkStore } from '../../lib/testing/index.ts'
import { startSentinel } from '../helpers/sentinel.ts'
import { withTimeLimit } from '../helpers/timed-store.ts'
import { changesOnce, failedOver, goods, scene, signIn, stillGood, timedOut, unavailable } from './scene.ts'

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
    t.equal(await master.client.wait(1, 0), 1)
    master.process.kill(signal)
    if (signal === 'SIGSTOP') await timedOut(t, host, left, `Sentinel, ${signal}`)
    else await unavailable(t, host, left, `Sentinel, ${signal}`)
    await unavailable(t, host, kept, `Sentinel, ${signal}`)
    await failedOver(t, host)
    t.equal(await masterPort(), replica.port, 'on what was the replica')
    await stillGood(t, host, kept)
    await signIn(t, host)
    const requests = host.events.filter(({ type }) => type === 'store_unavailable').length
    changesOnce(t, host, /Redis|Connection/, requests)
    master.process.kill('SIGCONT')
  })
}

t.test('a Sentinel that hangs is passed over', async (t) => {
  const { sentinels, options } = await startSentinel(t)
  sentinels[0]?.process.kill('SIGSTOP')
  const host = await scene(t, { redis: options })
  await failedOver(t, host)
  await signIn(t, host)
  sentinels[0]?.process.kill('SIGCONT')
})
