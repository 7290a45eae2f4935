// A host that lets nobody in without its own login, and our routes past it: the portal has no such login.
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const isPublic = (request: FastifyRequest) => 'public' in request.routeOptions.config

t.test('a global hook that our routes are let past by their config', async (t) => {
  const { url } = await startHost(t, { routeOptions: { config: { public: true } as object } }, {
    prepare (app) {
      app.addHook('onRequest', async (request, reply) => {
        const loggedIn = request.headers['x-own-login'] !== undefined
        if (!isPublic(request) && !loggedIn) return await reply.code(401).send({ problem: 'log in' })
        return undefined
      })
      app.get('/own', async () => 'own')
      app.setNotFoundHandler((_request, reply) => reply.code(404).send())
    }
  })
  // The hook stands before the answer to unknown paths too, so that a HEAD needs the login of the host to see a 404.
  const headLoggedIn = (init: RequestInit): RequestInit =>
    init.method === 'HEAD' ? { ...init, headers: { ...init.headers, 'x-own-login': '1' } } : init
  await keepsContract(t, wire(url, undefined, { fetch: (target, init) => fetch(target, headLoggedIn(init)) }))
  t.equal((await wire(url).send('/own')).status, 401)
})

t.test('without that, the answer is the one of the host', async (t) => {
  const { url, events } = await startHost(t, {}, {
    prepare: (app) => app.addHook('onRequest', async (_request, reply) =>
      await reply.code(401).send({ problem: 'log in' }))
  })
  for (const answer of [await wire(url).authorize(), await wire(url).token(), await wire(url).user('x')]) {
    t.equal(answer.status, 401)
    t.equal(answer.text, '{"problem":"log in"}')
    t.equal(answer.headers.get('cache-control'), 'no-store')
  }
  t.strictSame(events, [])
})

t.test('an error that a hook of the host throws is answered by the host', async (t) => {
  for (const thrown of [new Error('its own'), Object.assign(new Error('its own'), { code: 'OWN_CODE' })]) {
    const { url, events } = await startHost(t, {}, {
      prepare (app) {
        app.addHook('preHandler', async () => { throw thrown })
        app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ problem: error.message }))
      }
    })
    for (const answer of [await wire(url).authorize(), await wire(url).token(), await wire(url).user('x')]) {
      t.equal(answer.status, 418)
      t.strictSame(answer.json, { problem: 'its own' })
      t.equal(answer.headers.get('cache-control'), 'no-store')
    }
    t.strictSame(events, [], 'no refusal of ours')
  }
})
