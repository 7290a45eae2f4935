// Redis with Sentinel: one hangs when the app starts; a failover because the master dies, and one because it hangs.
import '../helpers/long-timers.ts'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import t from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import {
  failedOver, issue, outages, refusedWhen, replicated, scene, signIn, stillGood, timedOut, unavailable
} from '../helpers/outages.ts'
import { ofTest, storeOn } from '../helpers/redis-clients.ts'
import { startSentinel } from '../helpers/sentinel.ts'

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  t.test(`failover after the master got ${signal}`, async (t) => {
    const { master, sentinels: [sentinel], options, failOver } = await startSentinel(t)
    await t.resolves(checkStore(storeOn(t, ofTest(t, new Redis(options)), 'partner-sso:')))

    sentinel.process.kill('SIGSTOP')
    const host = await scene(t, { redis: options })
    await failedOver(t, host)
    sentinel.process.kill('SIGCONT')
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
  })
}
