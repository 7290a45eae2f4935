// The app is closed while sign-ins run.
import t from 'tap'
import { startApp } from '../app.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../wire.ts'
import { until } from '../helpers/until.ts'

// An idle connection keeps Fastify from closing for as long as this.
const server = { keepAliveTimeout: 500 }

t.test('closed while an authorization and a token request are held: both succeed', async (t) => {
  const redis = await startRedis(t)
  const held: Array<() => void> = []
  const hold = (): Promise<void> => new Promise((resolve) => { held.push(resolve) })
  let isHolding = false
  const routeOptions = { async preHandler () { if (isHolding) await hold() } }
  const { app, url } = await startApp(t, { options: { redis: redis.url, routeOptions }, server })
  const portal = wire(url)
  const code = await portal.code()
  isHolding = true
  const [authorized, issued] = [portal.authorize(), portal.token({ code })]
  await until(() => held.length === 2)
  const closed = app.close()
  // Fastify does not listen any more: the plugin's hooks before that have run.
  await until(() => !app.server.listening)
  for (const release of held) release()
  t.ok((await authorized).redirect.has('code'), 'the sign-in goes on')
  t.equal((await issued).status, 200, 'the code is exchanged')
  await closed
})
