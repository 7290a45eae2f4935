// How the routes answer, whatever hooks of the host have set before.
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { OAuthError } from '../../lib/errors.ts'
import { partnerSsoOnSend, sendJson, sendRefusal } from '../../lib/http/replies.ts'

interface Answered {
  statusCode: number
  headers: Record<string, unknown>
  body: string
}

async function answer (send: (reply: FastifyReply) => FastifyReply): Promise<Answered> {
  const app = Fastify()
  app.get('/', { onSend: partnerSsoOnSend }, (_request, reply) => {
    reply.headers({
      'cache-control': 'public, max-age=60',
      etag: '"digest"',
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'true',
      vary: 'origin',
      'x-access-control-like': 'kept'
    })
    return send(reply)
  })
  const response = await app.inject('/')
  await app.close()
  return response
}

t.test('what is sent is not kept, and open to no other origin', async (t) => {
  const { statusCode, headers, body } = await answer((reply) => sendJson(reply, 201, '{"a":1}'))
  t.equal(statusCode, 201)
  t.equal(body, '{"a":1}')
  t.match(headers, {
    'content-type': /^application\/json/,
    'cache-control': 'no-store',
    pragma: 'no-cache',
    vary: 'origin',
    'x-access-control-like': 'kept'
  })
  const removed = ['etag', 'access-control-allow-origin', 'access-control-allow-credentials', 'retry-after']
  for (const name of removed) t.notHas(headers, name)
})

t.test('a refusal names its error and says in words what to do', async (t) => {
  const refused = new OAuthError('grant_type_missing')
  const { statusCode, headers, body } = await answer((reply) => sendRefusal(reply, refused))
  const { refusal } = refused
  t.equal(statusCode, 400)
  t.strictSame(JSON.parse(body), { error: 'invalid_request', error_description: refusal.description })
  t.notHas(headers, 'retry-after')
})

t.test('what passes by itself may be tried again', async (t) => {
  const { statusCode, headers } = await answer((reply) => sendRefusal(reply, new OAuthError('store_unavailable')))
  t.equal(statusCode, 503)
  t.equal(headers['retry-after'], '1')
})
