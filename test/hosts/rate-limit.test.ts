// @fastify/rate-limit, for the whole app and for our routes alone. A 429 is the host's answer, in the host's shape.
import rateLimit from '@fastify/rate-limit'
import t from 'tap'
import type { Test } from 'tap'
import { keepsContract, signsIn } from '../contract/keeps-contract.ts'
import { isPrivate } from '../contract/replies.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import type { Answer } from '../helpers/wire.ts'

const USUAL = { statusCode: 429, error: 'Too Many Requests', message: 'Rate limit exceeded, retry in 1 minute' }

/** The clock of @fastify/rate-limit stands still: of its minute nothing has passed. */
function stopClock (t: Test): void {
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now })
}

function isLimited (t: Test, answer: Answer, body: unknown): void {
  t.equal(answer.status, 429)
  t.strictSame(answer.json, body)
  t.equal(answer.headers.get('retry-after'), '60')
  t.equal(answer.headers.get('location'), null)
  isPrivate(t, answer)
}

t.test('a limit that is not reached', async (t) => {
  const { url } = await startHost(t, {}, { prepare: (app) => app.register(rateLimit, { max: 1000 }) })
  await keepsContract(t, wire(url))
  const { headers } = await wire(url).user(undefined)
  t.equal(headers.get('x-ratelimit-limit'), '1000')
})

t.test('the limit of the whole app', async (t) => {
  stopClock(t)
  const { url, events } = await startHost(t, {}, { prepare: (app) => app.register(rateLimit, { max: 5 }) })
  const portal = wire(url)
  await signsIn(t, portal)
  const before = events.length
  for (const answer of [await portal.authorize(), await portal.token({ code: 'x' }), await portal.user('x')]) {
    isLimited(t, answer, USUAL)
  }
  t.equal(events.length, before, 'what the host refused is no event of ours')
})

t.test("in the shape of the host's error handler", async (t) => {
  stopClock(t)
  const { url } = await startHost(t, {}, {
    async prepare (app) {
      app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
        reply.code(error.statusCode ?? 500).send({ problem: error.message }))
      const errorResponseBuilder = () => Object.assign(new Error('slow down'), { statusCode: 429 })
      await app.register(rateLimit, { max: 1, errorResponseBuilder })
    }
  })
  await wire(url).user(undefined)
  for (const answer of [await wire(url).authorize(), await wire(url).token(), await wire(url).user('x')]) {
    isLimited(t, answer, { problem: 'slow down' })
  }
})

t.test('a limit of our routes alone', async (t) => {
  stopClock(t)
  const { url } = await startHost(t, { routeOptions: { config: { rateLimit: { max: 3 } } } }, {
    async prepare (app) {
      await app.register(rateLimit, { global: false })
      app.get('/own', async () => 'own')
    }
  })
  const portal = wire(url)
  await signsIn(t, portal)
  for (const request of [() => portal.authorize(), () => portal.token(), () => portal.user('x')]) {
    let answer = await request()
    for (let sent = 0; sent < 2; sent++) answer = await request()
    isLimited(t, answer, USUAL)
  }
  t.equal((await portal.send('/own')).headers.get('x-ratelimit-limit'), null)
})
