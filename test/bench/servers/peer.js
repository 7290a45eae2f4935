import { createCipheriv, createDecipheriv, createSecretKey, hash, randomBytes } from 'node:crypto'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { currentUser, portal } from '../host.js'
import { require } from '../packages.js'

const OAuth2Server = require('@node-oauth/oauth2-server')
const { Request, Response } = OAuth2Server
const LIFETIME = 60

/**
 * @node-oauth/oauth2-server with auto-pipelining, and with a model that costs as little as its interface allows: one
 * GETDEL finds and revokes, random values are made synchronously, and there is no refresh token.
 */
export async function start ({ variant, redisUrl }) {
  const redis = new Redis(redisUrl, { enableAutoPipelining: true })
  const oauth = new OAuth2Server({
    model: model(variant === 'sealed' ? sealedStore(redis) : clearStore(redis)),
    authorizationCodeLifetime: LIFETIME,
    accessTokenLifetime: LIFETIME,
    authenticateHandler: { handle: (request) => currentUser(request.headers.cookie) }
  })
  const app = Fastify()
  await app.register(formbody)
  app.get('/oauth/authorize', (request, reply) => respond(request, reply, (...both) => oauth.authorize(...both)))
  app.post('/oauth/token', (request, reply) => respond(request, reply, (...both) => oauth.token(...both)))
  app.get('/oauth/user', (request, reply) => respond(request, reply, async (asked, response) => {
    const { user } = await oauth.authenticate(asked, response)
    response.body = user
  }))
  return app
}

async function respond ({ headers, method, query, body }, reply, handle) {
  const response = new Response()
  try {
    await handle(new Request({ headers, method, query, body }), response)
    return reply.code(response.status).headers(response.headers).send(response.body)
  } catch ({ code = 500, name, message }) {
    return reply.code(code).headers(response.headers).send({ error: name, error_description: message })
  }
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

/** Codes, tokens and users in the clear. */
function clearStore (redis) {
  return {
    put: (secret, value) => redis.set(secret, JSON.stringify(value), 'EX', LIFETIME),
    take: async (secret) => JSON.parse(await redis.getdel(secret))
  }
}

/** Keys are hashed, and values encrypted with a key that needs the code or token and the client secret. */
function sealedStore (redis) {
  const nameOf = (secret) => hash('sha256', `name ${secret}`, 'base64url')
  const keyOf = (secret) => cipherKey(hash('sha256', `key ${secret} ${portal.clientSecret}`, 'buffer'))
  return {
    put: (secret, value) => redis.set(nameOf(secret), seal(keyOf(secret), JSON.stringify(value)), 'EX', LIFETIME),
    async take (secret) {
      const sealed = await redis.getdel(nameOf(secret))
      return sealed && JSON.parse(open(keyOf(secret), sealed))
    }
  }
}

const [major, minor] = process.versions.node.split('.').map(Number)
const release = major * 100 + minor
// A key of bytes costs twice as much as a KeyObject on these releases, and less on others.
const isObjectCheaper = release >= 2418 && release <= 2608
const cipherKey = isObjectCheaper ? createSecretKey : (bytes) => bytes

const NONCE_BYTES = 12
const TAG_BYTES = 16

function seal (key, text) {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = cipher.update(text, 'utf8')
  cipher.final()
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

function open (key, text) {
  const bytes = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
