import { randomBytes } from 'node:crypto'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { currentUser } from '../host.js'

/** The three routes and their store operations, and nothing else: no validation, no promise kept. */
export async function start ({ redisUrl }) {
  const redis = new Redis(redisUrl)
  const app = Fastify()
  await app.register(formbody)

  app.get('/oauth/authorize', async (request, reply) => {
    const { redirect_uri: redirectUri, state } = request.query
    const code = await issue(JSON.stringify(currentUser(request.headers.cookie).record))
    return reply.redirect(`${redirectUri}?code=${code}&state=${state}`, 302)
  })

  app.post('/oauth/token', async ({ body }) =>
    ({ token_type: 'Bearer', access_token: await issue(await redis.getdel(body.code)) }))

  app.get('/oauth/user', async (request, reply) => {
    const record = await redis.getdel(request.headers.authorization.slice('Bearer '.length))
    return reply.type('application/json').send(record)
  })

  async function issue (record) {
    const secret = randomBytes(32).toString('base64url')
    await redis.set(secret, record, 'EX', 60)
    return secret
  }

  return app
}
