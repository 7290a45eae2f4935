// Where the host responds itself, or sets options for our routes.
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { isGuarded } from '../contract/replies.ts'
import { recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

t.test('a location of the host\'s own stays, when one of its hooks throws', async (t) => {
  const { url } = await startHost(t, {}, {
    prepare (app) {
      app.addHook('preHandler', async (_request, reply) => {
        reply.header('location', '/elsewhere?code=1')
        throw new Error('of the host')
      })
      app.setErrorHandler((_error, _request, reply) => reply.code(303).send())
    }
  })
  const answer = await wire(url).authorize()
  t.equal(answer.status, 303)
  t.equal(answer.headers.get('location'), '/elsewhere?code=1')
})

t.test('options of the host for our routes do not replace what makes them ours', async (t) => {
  const wins = (_request: unknown, reply: FastifyReply) => { reply.code(299).send('of the host') }
  const seen: string[] = []
  const { url } = await startHost(t, {
    routeOptions: {
      handler: wins,
      errorHandler: (_error: unknown, _request: unknown, reply: FastifyReply) => {
        reply.code(298).send('of the host')
      },
      method: 'PUT',
      url: '/elsewhere',
      exposeHeadRoute: true,
      onSend: async (_request: unknown, reply: FastifyReply, payload: unknown) => {
        seen.push('onSend')
        reply.header('cache-control', 'public').header('x-of-host', '1')
        return payload
      },
      preParsing: async (_request: unknown, _reply: unknown, body: unknown) => { seen.push('preParsing'); return body },
      onRequest: async () => { seen.push('onRequest') }
    } as object
  })
  const portal = wire(url)
  const authorized = await portal.authorize()
  t.equal(authorized.status, 302)
  t.equal(authorized.headers.get('x-of-host'), '1')
  isGuarded(t, authorized)
  t.strictSame(seen, ['onRequest', 'preParsing', 'onSend'], 'its hooks run')
  t.strictSame((await portal.user(await portal.accessToken())).json, recordOf('alice'))
  t.equal((await portal.user('x')).status, 401)
  t.equal((await portal.send('/oauth/user', { method: 'HEAD' })).status, 404)
})
