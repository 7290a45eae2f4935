import { createSecretKey, hash, randomBytes } from 'node:crypto'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { open, seal } from '../../../dist/grants/sealing.js'
import { currentUser, portal } from '../host.js'
import { require } from '../packages.js'

const OAuth2Server = require('@node-oauth/oauth2-server')
const { Request, Response } = OAuth2Server
const LIFETIME = 60

/**
 * @node-oauth/oauth2-server with auto-pipelining, and with a model that costs as little as its interface allows: one
 * GETDEL finds and revokes, random values are made synchronously, and there is no refresh token.
 *
 * @param isSealed - whether the store keeps the promises of this package, or all in the clear
 */
export async function start ({ redisUrl, isSealed }) {
  const redis = new Redis(redisUrl, { enableAutoPipelining: true })
  const store = isSealed ? sealedStore(redis) : clearStore(redis)
  const oauth = new OAuth2Server({
    model: model(store),
    authorizationCodeLifetime: LIFETIME,
    accessTokenLifetime: LIFETIME,
    authenticateHandler: { handle: (request) => currentUser(request.headers.cookie) }
  })
  const app = Fastify()
  await app.register(formbody)
  app.get('/oauth/authorize', responding((...both) => oauth.authorize(...both)))
  app.post('/oauth/token', responding((...both) => oauth.token(...both)))
  app.get('/oauth/user', responding(async (request, response) => {
    const { user } = await oauth.authenticate(request, response)
    response.body = user
  }))
  return app
}

/** The load generator ends the run at a response that is wrong: errors need no form. */
const responding = (handle) => async ({ headers, method, query, body }, reply) => {
  const response = new Response()
  await handle(new Request({ headers, method, query, body }), response)
  return reply.code(response.status).headers(response.headers).send(response.body)
}

function model (store) {
  const client = { id: portal.clientId, redirectUris: [portal.redirectUri], grants: ['authorization_code'] }
  const randomToken = () => randomBytes(32).toString('base64url')
  return {
    getClient: (id, secret) => id === client.id && (secret === null || secret === portal.clientSecret) ? client : null,
    generateAuthorizationCode: randomToken,
    generateAccessToken: randomToken,
    generateRefreshToken: () => undefined,
    async saveAuthorizationCode (code, { id }, { record }) {
      await store.put(code.authorizationCode, { ...code, client: id, user: record })
      return code
    },
    async getAuthorizationCode (authorizationCode) {
      const code = await store.take(authorizationCode)
      return code && { ...code, client, user: { record: code.user }, expiresAt: new Date(code.expiresAt) }
    },
    revokeAuthorizationCode: () => true,
    async saveToken (token, client, user) {
      const { accessToken, accessTokenExpiresAt } = token
      await store.put(accessToken, { accessTokenExpiresAt, client: client.id, user: user.record })
      return { ...token, client, user }
    },
    async getAccessToken (accessToken) {
      const token = await store.take(accessToken)
      return token && { ...token, client, accessTokenExpiresAt: new Date(token.accessTokenExpiresAt) }
    }
  }
}

/** As the examples of peers store: whoever reads Redis has every code, token and record. */
function clearStore (redis) {
  return {
    put: (secret, value) => redis.set(secret, JSON.stringify(value), 'EX', LIFETIME),
    async take (secret) {
      const value = await redis.getdel(secret)
      return value && JSON.parse(value)
    }
  }
}

/** Keys are hashed, and values encrypted with a key that needs the code or token and the client secret. */
function sealedStore (redis) {
  const nameOf = (secret) => hash('sha256', `name ${secret}`, 'base64url')
  const keyOf = (secret) => createSecretKey(hash('sha256', `key ${secret} ${portal.clientSecret}`, 'buffer'))
  return {
    put: (secret, value) => redis.set(nameOf(secret), seal([keyOf(secret)], JSON.stringify(value)), 'EX', LIFETIME),
    async take (secret) {
      const sealed = await redis.getdel(nameOf(secret))
      return sealed && JSON.parse(open([keyOf(secret)], sealed))
    }
  }
}
