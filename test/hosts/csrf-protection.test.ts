// @fastify/csrf-protection. Where the host asks for a token everywhere, it lets our token route go by its config: the
// portal is no browser and has no cookie.
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { onRequestHookHandler } from 'fastify'
import t from 'tap'
import { keepsContract } from '../contract/keeps-contract.ts'
import { startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('on routes of the host', async (t) => {
  const { url } = await startHost(t, {}, {
    async prepare (app) {
      await app.register(cookie)
      await app.register(csrf)
      const onRequest: onRequestHookHandler = (request, reply, done) => app.csrfProtection(request, reply, done)
      app.post('/own', { onRequest }, async () => 'own')
    }
  })
  await keepsContract(t, wire(url))
  t.equal((await wire(url).send('/own', { method: 'POST' })).status, 403)
})

t.test('on every POST but those of machines', async (t) => {
  const { url } = await startHost(t, { routeOptions: { config: { machine: true } as object } }, {
    async prepare (app) {
      await app.register(cookie)
      await app.register(csrf)
      app.addHook('preHandler', (request, reply, done) => {
        if (request.method !== 'POST' || 'machine' in request.routeOptions.config) return done()
        app.csrfProtection(request, reply, done)
      })
      app.post('/own', async () => 'own')
    }
  })
  await keepsContract(t, wire(url))
  t.equal((await wire(url).send('/own', { method: 'POST' })).status, 403)
})

t.test('on every POST: the refusal is the one of the host', async (t) => {
  const { url } = await startHost(t, {}, {
    async prepare (app) {
      await app.register(cookie)
      await app.register(csrf)
      app.addHook('preHandler', (request, reply, done) => {
        if (request.method === 'POST') app.csrfProtection(request, reply, done)
        else done()
      })
    }
  })
  const answer = await wire(url).token({ code: await wire(url).code() })
  t.equal(answer.status, 403)
  t.match(answer.json, { code: 'FST_CSRF_MISSING_SECRET', statusCode: 403, message: 'Missing csrf secret' })
  t.equal(answer.headers.get('cache-control'), 'no-store')
})
