import { randomBytes } from 'node:crypto'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { currentUser } from '../host.js'

/** The three routes and their store operations, and nothing else: no validation, no promise kept. */
export async function start ({ variant, redisUrl }) {
  const store = variant === 'redis' ? redisStore(redisUrl) : mapStore()
  const app = Fastify()
  await app.register(formbody)

  app.get('/oauth/authorize', async (request, reply) => {
    const { redirect_uri: redirectUri, state } = request.query
    const code = await issue(JSON.stringify(currentUser(request.headers.cookie).record))
    return reply.redirect(`${redirectUri}?code=${code}&state=${state}`, 302)
  })

  app.post('/oauth/token', async (request, reply) => {
    const record = await store.take(request.body.code)
    if (record === null) return reply.code(400).send()
    return { token_type: 'Bearer', access_token: await issue(record) }
  })

  app.get('/oauth/user', async (request, reply) => {
    const record = await store.take(request.headers.authorization.slice('Bearer '.length))
    if (record === null) return reply.code(401).send()
    return reply.type('application/json').send(record)
  })

  async function issue (record) {
    const secret = randomBytes(32).toString('base64url')
    await store.put(secret, record)
    return secret
  }

  return app
}

function redisStore (url) {
  const redis = new Redis(url)
  return { put: (key, value) => redis.set(key, value, 'EX', 60), take: (key) => redis.getdel(key) }
}

function mapStore () {
  const values = new Map()
  return {
    put: async (key, value) => { values.set(key, value) },
    async take (key) {
      const value = values.get(key) ?? null
      values.delete(key)
      return value
    }
  }
}
