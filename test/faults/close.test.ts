// The app is closed while sign-ins run.
import t from 'tap'
import { startHost } from '../helpers/host.ts'
import { startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import { wire } from '../helpers/wire.ts'
import { until } from './scene.ts'

// An idle connection keeps Fastify from closing for as long as this.
const server = { keepAliveTimeout: 500 }

t.test('requests under way are finished, and the store is there until they are', async (t) => {
  const redis = await startRedis(t)
  const proxy = await startProxy(t, redis.port)
  const redisUrl = `redis://127.0.0.1:${proxy.port}`
  const options = { redis: redisUrl, storeTimeout: 30_000, codeLifetime: 600, tokenLifetime: 3600 }
  const { app, url, events } = await startHost(t, options, { server })
  const portal = wire(url)
  const codes = await Promise.all(Array.from({ length: 20 }, async () => await portal.code()))
  const tokens = await Promise.all(Array.from({ length: 20 }, async () => await portal.accessToken()))
  proxy.delay = 200
  let accepted = 0
  app.server.on('request', () => { accepted++ })
  const answers = Promise.all([
    ...codes.map(async () => (await portal.authorize()).redirect.has('code')),
    ...codes.map(async (code) => (await portal.token({ code })).status === 200),
    ...tokens.map(async (token) => (await portal.user(token)).status === 200)
  ])
  t.ok(await until(() => accepted === 60))
  const closed = app.close()
  t.strictSame(await answers, Array(60).fill(true), 'each is answered as if nothing were')
  await closed
  t.equal(events.filter(({ type }) => type === 'store_unavailable').length, 0)
  await t.rejects(portal.authorize(), 'nobody listens any more')
})

t.test('closed under load: whatever was accepted is answered', async (t) => {
  const redis = await startRedis(t)
  const { app, url, events } = await startHost(t, { redis: redis.url, storeTimeout: 30_000 }, { server })
  const portal = wire(url)
  let [accepted, responded, signedIn, turnedAway] = [0, 0, 0, 0]
  app.server.on('request', (_request, response) => {
    accepted++
    response.on('finish', () => responded++)
  })
  let closing = false
  const workers = Array.from({ length: 20 }, async () => {
    while (true) {
      try {
        const issued = await portal.token({ code: await portal.code() })
        const answer = await portal.user(issued.json.access_token)
        if (answer.status === 200) signedIn++
        else if (closing) return turnedAway++
      } catch (error) {
        // Not accepted any more, or turned away by Fastify (503) because it closes.
        if (closing) return turnedAway++
        throw error
      }
    }
  })
  await until(() => signedIn >= 100)
  closing = true
  await app.close()
  await Promise.all(workers)
  t.equal(responded, accepted, `all of ${accepted} requests were answered in full`)
  t.equal(turnedAway, 20)
  t.equal(events.filter(({ type }) => type === 'store_unavailable').length, 0)
})
