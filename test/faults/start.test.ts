// An app with many registrations starts while their stores are down. Fastify allows ten seconds for the start
// (`pluginTimeout`), and the plugin waits up to four for a store: so all of them are waited for at the same time.
import Fastify from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { pluginOptions } from '../app.ts'
import { startRedis } from '../helpers/redis.ts'
import { until } from '../helpers/until.ts'

t.test('ten registrations: the start asks all stores before it has a response of any', async (t) => {
  const asked: Array<(isPut: boolean) => void> = []
  const put = (): Promise<boolean> => new Promise((resolve) => asked.push(resolve))
  const store = { put, take: async () => 'probe', revoke: async () => null }
  const log: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => log.push(line) } } })
  t.teardown(() => app.close())
  for (let count = 0; count < 10; count++) {
    await app.register(partnerSso, { ...pluginOptions({ store }), prefix: `/${count}` })
  }
  const ready = (async () => await app.ready())()
  await until(() => asked.length === 10)
  t.strictSame(log, [], 'no time limit has passed by then')
  for (const respond of asked) respond(true)
  await t.resolves(ready)
})

t.test('the start waits for each store, and fails where one of them can never serve', async (t) => {
  const { url } = await startRedis(t, ['--rename-command', 'GETDEL', ''])
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(partnerSso, { ...pluginOptions({ store: 'memory' }), prefix: '/good' })
  await app.register(partnerSso, { ...pluginOptions({ redis: url }), prefix: '/bad' })
  await t.rejects(async () => await app.ready(), { code: 'FST_PARTNER_SSO_STORE_UNFIT' })
})
