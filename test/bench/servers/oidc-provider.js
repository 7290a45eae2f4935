import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import Provider from 'oidc-provider'
import { connectRedis, lifetime } from './redis.js'

const scope = 'openid'

/**
 * oidc-provider on plain node:http. Its flow needs a session and a grant: both stand in this process, as if
 * every user had signed in and consented before, so that only codes and tokens go to Redis, by an adapter of
 * four commands a flow. Its ID token cannot be left out; HS256 is the cheapest signature.
 */
export async function start ({ host, redisUrl, variant }) {
  const redis = connectRedis(redisUrl, variant)
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })

  const provider = new Provider('http://127.0.0.1', {
    adapter: (model) => adapters[model]?.(host, redis) ?? absent,
    clients: host.portals.map((portal) => ({
      client_id: portal.clientId,
      client_secret: portal.clientSecret,
      redirect_uris: [portal.redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'HS256'
    })),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...host.userById(id).record }) }),
    claims: { [scope]: ['sub', 'external_id', 'email', 'name', 'type', 'control_role', 'product_role'] },
    conformIdTokenClaims: true,
    cookies: { names: { session: 'session' }, keys: [] },
    enabledJWA: { idTokenSigningAlgValues: ['HS256'] },
    expiresWithSession: () => false,
    features: { devInteractions: { enabled: false } },
    jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig' }] },
    pkce: { required: () => false },
    routes: { authorization: '/oauth/authorize', token: '/oauth/token', userinfo: '/oauth/user' },
    ttl: { AuthorizationCode: lifetime, AccessToken: lifetime, IdToken: lifetime, Session: 86_400, Grant: 86_400 }
  })

  const server = createServer({ keepAliveTimeout: 72_000 }, provider.callback())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

const later = () => Math.floor(Date.now() / 1000) + 86_400

const adapters = {
  /** Found once: the GETDEL both finds and consumes. */
  AuthorizationCode: (_, redis) => redisAdapter('code:', redis),
  AccessToken: (_, redis) => redisAdapter('token:', redis),
  Session: (host) =>
    keptAdapter((session) => {
      const user = host.currentUser(`session=${session}`)
      const [{ clientId }] = host.portals
      return (
        user && {
          kind: 'Session',
          jti: session,
          uid: user.id,
          accountId: user.id,
          loginTs: later() - 86_400,
          exp: later(),
          authorizations: { [clientId]: { sid: user.id, grantId: user.id } }
        }
      )
    }),
  Grant: (host) =>
    keptAdapter((id) => ({
      kind: 'Grant',
      jti: id,
      accountId: id,
      clientId: host.portals[0].clientId,
      openid: { scope },
      exp: later(),
      iat: later() - 86_400
    }))
}

function redisAdapter (prefix, redis) {
  return {
    upsert: (id, payload, expiresIn) => redis.set(`${prefix}${id}`, JSON.stringify(payload), 'EX', expiresIn),
    find: async (id) => JSON.parse(await redis.getdel(`${prefix}${id}`)) ?? undefined,
    consume: async () => {},
    destroy: async () => {},
    revokeByGrantId: async () => {}
  }
}

/** Kept in this process; what is asked for and not there yet is made. */
function keptAdapter (make) {
  const kept = new Map()
  return {
    async upsert (id, payload) {
      kept.set(id, payload)
    },
    async find (id) {
      if (!kept.has(id)) kept.set(id, make(id))
      return kept.get(id)
    },
    findByUid: async () => undefined,
    destroy: async (id) => kept.delete(id),
    revokeByGrantId: async () => {}
  }
}

const absent = { find: async () => undefined, upsert: async () => {}, destroy: async () => {} }
