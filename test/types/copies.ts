// Compiled, never run: an app of another copy of Fastify 5, as NestJS brings one, and Redis clients of other versions.
import Fastify from 'fastify'
import Fastify50 from 'fastify-5.0'
import type { Cluster, Redis } from 'ioredis'
import type { Cluster as Cluster54, Redis as Redis54 } from 'ioredis-5.4'
import type { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey'
import partnerSso from '../../lib/index.ts'
import type { Portal, PartnerSsoOptions } from '../../lib/index.ts'

declare const portal: Portal
const app = Fastify()
const app50 = Fastify50({ logger: true })

// Inline: the request has its type, and nothing needs a cast.
await app50.register(partnerSso, {
  portal,
  currentUser: (request, reply) => reply.sent ? null : request.headers.host?.toUpperCase(),
  portalEligibility: (user, { request }) => user === request.id ? null : undefined
})
await app50.register(partnerSso, {
  portal,
  // @ts-expect-error -- the request has no such property
  currentUser: (request) => request.nothing,
  portalEligibility: () => null
})

// Every optional option may be undefined, as an environment variable may be.
const absent = {
  portal: { ...portal, level: undefined },
  currentUser: () => null,
  portalEligibility: () => null,
  loginPage: process.env.LOGIN_PAGE,
  errorPage: undefined,
  redis: process.env.REDIS_URL,
  store: undefined,
  keyPrefix: undefined,
  memoryLimit: undefined,
  storeTimeout: undefined,
  codeLifetime: undefined,
  tokenLifetime: undefined,
  onEvent: undefined,
  routeOptions: undefined
}
await app.register(partnerSso, absent)
await Fastify({ http2: true }).register(partnerSso, absent)

// Portals that a function finds, at once or later.
export const finders: Array<PartnerSsoOptions['portal']> = [
  (clientId) => clientId === portal.clientId ? portal : null,
  async (clientId) => clientId === portal.clientId ? portal : undefined
]
// @ts-expect-error -- no portal
export const badFinder: PartnerSsoOptions['portal'] = () => ({ clientId: 'x' })

// Clients of the host.
declare const clients: Redis | Cluster | Redis54 | Cluster54 | Valkey | ValkeyCluster
await app.register(partnerSso, { ...absent, redis: clients })
// @ts-expect-error -- no client, and no options
await app.register(partnerSso, { ...absent, redis: 6379 })
