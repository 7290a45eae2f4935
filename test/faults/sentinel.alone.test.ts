// Redis with Sentinel: a failover because the master dies, one because it hangs, and a Sentinel that hangs.
// Alone: it sets the clock of its process.
import '../helpers/long-timers.ts'
import { Redis } from 'ioredis'
import { once } from 'node:events'
import t from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import { ofTest, storeOn } from '../helpers/redis-clients.ts'
import {
  failedOver, issue, outages, refusedWhen, replicated, scene, signIn, stillGood, timedOut, unavailable
} from '../helpers/outages.ts'
import { until } from '../helpers/until.ts'
import { startSentinel } from '../helpers/sentinel.ts'

const [toKill, toStop, toPassOver] = await Promise.all([startSentinel(t), startSentinel(t), startSentinel(t)])

for (const [signal, sentinel] of [['SIGKILL', toKill], ['SIGSTOP', toStop]] as const) {
  t.test(`failover after the master got ${signal}`, async (t) => {
    const { master, options, failOver } = sentinel
    const client = ofTest(t, new Redis(options))
    await t.resolves(checkStore(storeOn(t, client, 'partner-sso:')))

    const host = await scene(t, { redis: options })
    t.ok(await until(() => host.ready()), 'ready')
    const [left, kept] = [await issue(host), await issue(host)]
    await replicated(master)
    master.process.kill(signal)
    if (signal === 'SIGSTOP') {
      await timedOut(t, host, left)
    } else {
      await once(master.process, 'exit')
      await refusedWhen(t, host, left)
    }
    await unavailable(t, host, kept)
    await failOver()
    await failedOver(t, host)
    await stillGood(t, host, kept)
    await signIn(t, host)
    // Sentinel closes the connections to a server whose role it changes, so the store can be lost more than once.
    t.ok(outages(t, host) >= 1)
    master.process.kill('SIGCONT')
  })
}

t.test('a Sentinel that hangs is passed over', async (t) => {
  const { sentinels, options } = toPassOver
  sentinels[0].process.kill('SIGSTOP')
  const host = await scene(t, { redis: options })
  await failedOver(t, host)
  await signIn(t, host)
  sentinels[0].process.kill('SIGCONT')
})
