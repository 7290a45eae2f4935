// The oldest Fastify 5, the one that NestJS 11 brings, and the newest: what one of them does in its own way. All tests
// of hosts on each of them: `node test/versions.js`.
import cors from '@fastify/cors'
import fastifyExpress from '@fastify/express'
import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isRefused } from '../contract/replies.ts'
import { fastifyNamed } from '../helpers/fastify.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

/** Headers as middleware sets them: Fastify before 5.12 does not remove these with `reply.removeHeader`. */
async function openRawHeaders (_request: FastifyRequest, { raw }: FastifyReply): Promise<void> {
  raw.setHeader('Access-Control-Allow-Origin', '*')
  raw.setHeader('Access-Control-Expose-Headers', '*')
  raw.setHeader('ETag', '"1"')
}

for (const name of ['fastify-5.0', 'fastify-5.11', 'fastify']) {
  const factory = await fastifyNamed(name)
  t.test(`Fastify ${factory().version}`, async (t) => {
    await t.test('CORS for the whole app', async (t) => {
      const { url } = await startHost(t, {}, { factory, prepare: (app) => app.register(cors, { credentials: true }) })
      await keepsContract(t, wire(url))
    })

    await t.test('headers that the host set on the response of Node', async (t) => {
      const { url } = await startHost(t, {}, { factory, prepare: (app) => app.addHook('onRequest', openRawHeaders) })
      const portal = wire(url)
      await keepsContract(t, portal)
      for (const answer of [await portal.authorize(), await portal.token(), await portal.user('x')]) {
        t.equal(answer.headers.get('etag'), null)
      }
    })

    await t.test('a URL that @fastify/express has decoded', async (t) => {
      const { url } = await startHost(t, {}, { factory, prepare: (app) => app.register(fastifyExpress) })
      await keepsContract(t, wire(url))
    })

    await t.test('what a hook of the host throws is answered by the host', async (t) => {
      const { url, events } = await startHost(t, {}, {
        factory,
        prepare (app) {
          app.addHook('preHandler', async () => { throw Object.assign(new Error('its own'), { statusCode: 409 }) })
          app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ problem: error.message }))
        }
      })
      for (const answer of [await wire(url).authorize(), await wire(url).token(), await wire(url).user('x')]) {
        t.equal(answer.status, 418)
        t.strictSame(answer.json, { problem: 'its own' })
      }
      t.strictSame(events, [])
    })

    await t.test('a body over the limit', async (t) => {
      const { url } = await startHost(t, {}, { factory })
      const large = await wire(url).token({ code: 'x'.repeat(20_000) })
      isRefused(t, large, 400, 'invalid_request', large.json.error_description)
    })
  })
}
