import { createSecretKey, randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import formbody from '@fastify/formbody'
import { AuthorizationServer, DateInterval, JwtService } from '@jmondi/oauth2-server'
import { handleFastifyError, handleFastifyReply, requestFromFastify } from '@jmondi/oauth2-server/fastify'
import { listen } from './listen.js'
import { randomToken } from './random.js'
import { connectRedis, lifetime } from './redis.js'

/**
 * @jmondi/oauth2-server in the fastest set-up that its documentation knows: its JWT key as a KeyObject
 * (with the string of its examples each signature tries to read a PEM key first), opaque codes, no refresh
 * token, and one GETDEL that both finds and revokes. Its access token is a JWT; it is good once by its `jti`.
 */
export async function start ({ host, redisUrl, variant }) {
  const redis = connectRedis(redisUrl, variant)
  const clients = new Map(host.portals.map((portal) => [portal.clientId, {
    id: portal.clientId,
    name: portal.clientId,
    secret: portal.clientSecret,
    redirectUris: [portal.redirectUri],
    allowedGrants: ['authorization_code'],
    scopes: []
  }]))
  const put = (key, value) => redis.set(key, JSON.stringify(value), 'EX', lifetime)
  const take = async (key) => JSON.parse(await redis.getdel(key))
  const jwt = new JwtService(createSecretKey(randomBytes(32)))

  const server = new AuthorizationServer(
    clientRepository(clients),
    tokenRepository(put),
    { getAllByIdentifiers: async () => [], finalize: async (scopes) => scopes },
    jwt,
    { requiresPKCE: false, useOpaqueAuthorizationCodes: true }
  )
  server.enableGrantType({
    grant: 'authorization_code',
    authCodeRepository: codeRepository(clients, put, take),
    userRepository: { getUserByCredentials: async (id) => host.userById(id) }
  }, new DateInterval(`${lifetime}s`))

  const app = Fastify()
  await app.register(formbody)

  app.get('/oauth/authorize', async (request, reply) => {
    try {
      const authorization = await server.validateAuthorizationRequest(requestFromFastify(request))
      authorization.user = host.currentUser(request.headers.cookie)
      authorization.isAuthorizationApproved = true
      handleFastifyReply(reply, await server.completeAuthorizationRequest(authorization))
    } catch (error) {
      handleFastifyError(error, reply)
    }
    return reply
  })

  app.post('/oauth/token', async (request, reply) => {
    try {
      handleFastifyReply(reply, await server.respondToAccessTokenRequest(requestFromFastify(request)))
    } catch (error) {
      handleFastifyError(error, reply)
    }
    return reply
  })

  app.get('/oauth/user', async (request, reply) => {
    const { jti } = await jwt.verify(request.headers.authorization.slice(7))
    const record = await take(`token:${jti}`)
    return record ?? reply.code(401).send({ error: 'invalid_token' })
  })

  return listen(app)
}

function clientRepository (clients) {
  return {
    getByIdentifier: async (id) => clients.get(id),
    isClientValid: async (grantType, client, secret) =>
      client.allowedGrants.includes(grantType) && client.secret === secret
  }
}

function tokenRepository (put) {
  return {
    issueToken: async (client, scopes, user) => ({ accessToken: randomToken(), client, scopes, user }),
    persist: (token) => put(`token:${token.accessToken}`, token.user.record),
    issueRefreshToken: async (token) => token,
    revoke: async () => {},
    isRefreshTokenRevoked: async () => true,
    getByRefreshToken: async () => undefined
  }
}

function codeRepository (clients, put, take) {
  return {
    issueAuthCode: (client, user, scopes) => ({ code: randomToken(), client, user, scopes }),
    persist: (code) =>
      put(`code:${code.code}`, {
        ...code,
        client: code.client.id,
        user: { id: code.user.id, record: code.user.record }
      }),
    async getByIdentifier (id) {
      const code = await take(`code:${id}`)
      return code && { ...code, client: clients.get(code.client), expiresAt: new Date(code.expiresAt) }
    },
    isRevoked: async () => false,
    revoke: async () => {}
  }
}
