import Fastify from 'fastify'
import formbody from '@fastify/formbody'
import { listen } from './listen.js'
import { randomToken } from './random.js'
import { connectRedis, lifetime } from './redis.js'

/** The three routes and nothing else: what is left when all checking is taken away. */
export async function start ({ host, redisUrl, variant, options }) {
  const store =
    variant === 'map' ? mapStore() : redisStore(connectRedis(redisUrl, variant), options?.codeLifetime ?? lifetime)
  const app = Fastify()
  await app.register(formbody)

  app.get('/oauth/authorize', async (request, reply) => {
    const { redirect_uri: redirectUri, state } = request.query
    const user = host.currentUser(request.headers.cookie)
    const code = randomToken()
    await store.put(`code:${code}`, JSON.stringify(user.record))
    return reply.redirect(`${redirectUri}?code=${code}&state=${state}`, 302)
  })

  app.post('/oauth/token', async (request, reply) => {
    const record = await store.take(`code:${request.body.code}`)
    if (record === null) return reply.code(400).send()
    const token = randomToken()
    await store.put(`token:${token}`, record)
    return { token_type: 'Bearer', access_token: token }
  })

  app.get('/oauth/user', async (request, reply) => {
    const record = await store.take(`token:${request.headers.authorization.slice(7)}`)
    if (record === null) return reply.code(401).send()
    return reply.type('application/json').send(record)
  })

  return listen(app)
}

function redisStore (redis, seconds) {
  return {
    put: (key, value) => redis.set(key, value, 'EX', seconds),
    take: (key) => redis.getdel(key)
  }
}

function mapStore () {
  const values = new Map()
  return {
    async put (key, value) {
      values.set(key, value)
    },
    async take (key) {
      const value = values.get(key) ?? null
      values.delete(key)
      return value
    }
  }
}
