import Fastify from 'fastify'
import formbody from '@fastify/formbody'
import OAuth2Server from '@node-oauth/oauth2-server'
import { listen } from './listen.js'
import { randomToken } from './random.js'
import { connectRedis, lifetime } from './redis.js'

const { Request, Response } = OAuth2Server

/**
 * @node-oauth/oauth2-server with a model that costs as little as its interface allows: one GETDEL both
 * finds and revokes, values are made synchronously, and there is no refresh token.
 */
export async function start ({ host, redisUrl, variant }) {
  const oauth = new OAuth2Server({
    model: model(host, connectRedis(redisUrl, variant)),
    authorizationCodeLifetime: lifetime,
    accessTokenLifetime: lifetime
  })
  const authenticateHandler = { handle: (request) => host.currentUser(request.headers.cookie) }
  const app = Fastify()
  await app.register(formbody)

  app.get('/oauth/authorize', (request, reply) =>
    answer(request, reply, (...args) => oauth.authorize(...args, { authenticateHandler }))
  )
  app.post('/oauth/token', (request, reply) => answer(request, reply, (...args) => oauth.token(...args)))
  app.get('/oauth/user', async (request, reply) => {
    try {
      const { user } = await oauth.authenticate(requestOf(request), new Response())
      return user.record
    } catch (error) {
      return reply.code(error.code ?? 500).send({ error: error.name })
    }
  })

  return listen(app)
}

function requestOf ({ headers, method, query, body }) {
  return new Request({ headers, method, query, body })
}

async function answer (request, reply, handle) {
  const response = new Response()
  try {
    await handle(requestOf(request), response)
    return reply.code(response.status).headers(response.headers).send(response.body)
  } catch (error) {
    return reply
      .code(error.code ?? 500)
      .headers(response.headers)
      .send({ error: error.name, error_description: error.message })
  }
}

function model (host, redis) {
  const clients = new Map(host.portals.map((portal) => [portal.clientId, {
    id: portal.clientId, redirectUris: [portal.redirectUri], grants: ['authorization_code']
  }]))
  const put = (key, value) => redis.set(key, JSON.stringify(value), 'EX', lifetime)
  const take = async (key) => JSON.parse(await redis.getdel(key))

  return {
    getClient (id, secret) {
      if (secret !== null && host.portalById(id)?.clientSecret !== secret) return null
      return clients.get(id)
    },
    generateAuthorizationCode: randomToken,
    generateAccessToken: randomToken,
    generateRefreshToken: () => undefined,
    async saveAuthorizationCode (code, client, user) {
      await put(`code:${code.authorizationCode}`, { ...code, client: client.id, user: user.record })
      return code
    },
    async getAuthorizationCode (authorizationCode) {
      const code = await take(`code:${authorizationCode}`)
      if (!code) return null
      return {
        ...code,
        client: clients.get(code.client),
        user: { record: code.user },
        expiresAt: new Date(code.expiresAt)
      }
    },
    revokeAuthorizationCode: () => true,
    async saveToken (token, client, user) {
      const { accessToken, accessTokenExpiresAt } = token
      await put(`token:${accessToken}`, { accessTokenExpiresAt, client: client.id, user: user.record })
      return { ...token, client, user }
    },
    async getAccessToken (accessToken) {
      const token = await take(`token:${accessToken}`)
      if (!token) return null
      return {
        accessToken,
        user: { record: token.user },
        client: clients.get(token.client),
        accessTokenExpiresAt: new Date(token.accessTokenExpiresAt)
      }
    }
  }
}
