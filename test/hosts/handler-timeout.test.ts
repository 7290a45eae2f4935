// Fastify's handlerTimeout, of the app and of our routes: a hook of the host that hangs does not hang the browser.
import { setTimeout } from 'node:timers/promises'
import { type FastifyInstance } from 'fastify'
import t from 'tap'
import { isPrivate, keepsContract } from '../helpers/contract.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('a limit that is not reached', async (t) => {
  const { url } = await startHost(t, {}, { server: { handlerTimeout: 5000 } })
  await keepsContract(t, wire(url))
})

/** An error handler of the host that shows the code of the error. */
const showCode = (app: FastifyInstance) =>
  app.setErrorHandler((error: Error & { code?: string }, _request, reply) =>
    reply.code(503).send({ problem: error.code }))

const limits = [['of the app', { handlerTimeout: 50 }, {}], ['of our routes', {}, { handlerTimeout: 50 }]] as const

for (const [whose, server, routeOptions] of limits) {
  for (const hook of ['currentUser', 'portalEligibility'] as const) {
    t.test(`a limit ${whose} that ${hook} reaches`, async (t) => {
      let late: Promise<unknown> = Promise.resolve()
      const { url, events } = await startHost(t, {
        routeOptions,
        async [hook] (user: never, context: never) {
          late = setTimeout(150)
          await late
          return await hostOptions()[hook](user, context)
        }
      }, { server, prepare: showCode })
      const answer = await wire(url).authorize()
      t.equal(answer.status, 503)
      t.strictSame(answer.json, { problem: 'FST_ERR_HANDLER_TIMEOUT' })
      isPrivate(t, answer)
      await late
      await setTimeout(20)
      t.strictSame(events, [], 'nothing is issued to a browser that is gone')
    })
  }
}

t.test('a limit that is over while the store still works', async (t) => {
  // Milliseconds that each call of the store takes from the time the portal asks for.
  let pause = 0
  const records = new Map<string, string>()
  const slow = async <T>(result: T): Promise<T> => await setTimeout(pause, result)
  const { url, events } = await startHost(t, {
    routeOptions: { handlerTimeout: 60 },
    store: {
      async put (key, value) { await slow(null); records.set(key, value); return true },
      async take (key) { const value = records.get(key) ?? null; records.delete(key); return await slow(value) },
      async revoke () { return false }
    }
  }, { prepare: showCode })
  const portal = wire(url)
  const code = await portal.code()
  const token = await portal.accessToken()
  events.length = 0
  pause = 100
  for (const answer of [await portal.authorize(), await portal.user(token)]) {
    t.equal(answer.status, 503)
    t.strictSame(answer.json, { problem: 'FST_ERR_HANDLER_TIMEOUT' })
  }
  await setTimeout(300)
  t.strictSame(events, [], 'nothing is reported that did not arrive')

  // Fastify's limit ends with the body of a request; after it storeTimeout applies.
  t.equal((await portal.token({ code })).status, 200)
  t.match(events, [{ type: 'token_issued' }])
})
