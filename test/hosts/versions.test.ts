// The oldest Fastify 5, the one that NestJS 11 brings, and the newest, with plugins that reach into Fastify. All tests
// of hosts on each of them: `node test/versions.js`.
import cors from '@fastify/cors'
import fastifyExpress from '@fastify/express'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { fastifyNamed } from '../helpers/fastify.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

for (const name of ['fastify-5.0', 'fastify-5.11', 'fastify']) {
  const factory = await fastifyNamed(name)
  t.test(`Fastify ${factory().version}`, async (t) => {
    const { url, events } = await startHost(t, {}, {
      factory,
      async prepare (app) {
        await app.register(cors, { credentials: true })
        await app.register(fastifyExpress)
        app.addHook('preHandler', async ({ headers }) => {
          if (headers['x-throw'] !== undefined) throw Object.assign(new Error('its own'), { statusCode: 409 })
        })
        app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ problem: error.message }))
      }
    })
    const portal = wire(url)
    await keepsContract(t, portal)
    events.length = 0
    const headers = { 'x-throw': '1' }
    for (const response of [
      await portal.authorize({}, 'alice', headers), await portal.token({}, headers), await portal.user('x', headers)
    ]) t.strictSame([response.status, response.json], [418, { problem: 'its own' }])
    t.strictSame(events, [], 'what a hook of the host throws is left to the host')
  })
}
