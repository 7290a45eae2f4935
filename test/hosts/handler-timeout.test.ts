// Fastify's handlerTimeout, of the app and of our routes: a hook of the host that hangs does not hang the browser.
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { isPrivate, keepsContract } from '../helpers/contract.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('a limit that is not reached', async (t) => {
  const { url } = await startHost(t, {}, { server: { handlerTimeout: 5000 } })
  await keepsContract(t, wire(url))
})

for (const [whose, server, routeOptions] of [['of the app', { handlerTimeout: 50 }, {}], ['of our routes', {}, { handlerTimeout: 50 }]] as const) {
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
      }, {
        server,
        prepare: (app) => app.setErrorHandler((error: Error & { code?: string }, _request, reply) => reply.code(503).send({ problem: error.code }))
      })
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
