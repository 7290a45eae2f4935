// Compiled, never run: what a host's code may say, and what it may not. `npm run types` fails where a line marked as an
// error compiles, and where any other line does not.
import Fastify from 'fastify'
import type { FastifyRequest } from 'fastify'
import { Cluster, Redis } from 'ioredis'
import type { Static } from 'typebox'
import partnerSso from '../../lib/index.ts'
import type {
  PartnerSsoEvent, PartnerSsoOptions, PortalInformation, Store, UserInformation, UserInformation as schema
} from '../../lib/index.ts'

interface User { id: string, mail: string, admin: boolean }

// A mark of the host's own for its hooks, as the README has it.
declare module 'fastify' {
  interface FastifyContextConfig { public?: boolean }
}

declare function currentUser (request: FastifyRequest): Promise<User | null>
declare const user: User | undefined
declare const store: Store
declare const portal: PartnerSsoOptions['portal']
const app = Fastify()

const nameless = { external_id: '1', email: 'a@b', product_role: 'Product Operator' } as const
const identity = { ...nameless, name: 'A' } as const

// A row of a database, and pages of the host's own.
declare const row: { client_id: number | null, client_name: string | null }
const pages: Pick<PartnerSsoOptions<User>, 'portalEligibility' | 'errorPage'> = {
  portalEligibility: ({ admin }, { reply }) => admin
    ? { ...identity, ...row, type: 'client', control_role: 'Client Read Only' }
    : reply.code(403).send(),
  errorPage: ({ description, loginUrl = '/', requestId }, _request, reply) =>
    requestId === '' ? description + loginUrl : reply.send()
}

// Inline, with nothing named.
await app.register(partnerSso, { portal, currentUser, ...pages })
await app.register(partnerSso, {
  portal: { loginUrl: '', clientId: '', clientSecret: '', redirectUri: '', level: 'client' },
  currentUser: (request) => request.headers.host ?? null,
  portalEligibility: (user, { portal: { clientId, level }, request }) => ({
    ...identity,
    external_id: user.id,
    name: clientId + request.id,
    type: 'client',
    control_role: level === 'client' ? 'Client Read Only' : 'Client Administrator'
  }),
  loginPage: (returnTo, request) => returnTo + request.id,
  onEvent: ({ reason, clientId, externalId }, request, cause) => {
    request.log.info({ reason, clientId, externalId, cause })
  },
  routeOptions: { config: { rateLimit: { max: 1 }, public: true } },
  prefix: '/sso',
  logLevel: 'warn'
})

// Back from the login, in Fastify of any kind; Express and Node: test/hosts/return-to.
Fastify({ http2: true }).get('/login', (request, reply) => request.server.partnerSso.returnTo(request, reply))
// @ts-expect-error -- it may be null
app.get('/', (request, reply) => reply.redirect(app.partnerSso.returnTo(request, reply)))

// With the host's own type: it flows from one hook to the other.
await app.register(partnerSso<User>, {
  portal,
  currentUser,
  portalEligibility: (user) => user.admin
    ? { ...identity, email: user.mail, type: 'partner', control_role: 'Partner Administrator' }
    : null
})
await app.register(partnerSso<User>, {
  portal,
  currentUser: (_request, reply) => user ?? reply.redirect('/login'),
  // @ts-expect-error -- the user has no such property
  portalEligibility: (user) => user.nothing
})
await partnerSso(app, {
  portal,
  currentUser: async (_request, reply) => user ?? reply.code(401).send('Log in'),
  // @ts-expect-error -- the user has no such property
  portalEligibility: (user) => user.nothing
})
await app.register(partnerSso<User>, {
  portal,
  // @ts-expect-error -- not the host's user
  currentUser: () => ({ id: 1 }),
  portalEligibility: () => null
})
const options: PartnerSsoOptions<User> = {
  portal,
  currentUser,
  portalEligibility: async ({ id }) => id === '' ? undefined : null
}
await app.register(partnerSso<User>, options)
await app.register(partnerSso, options)

// Every way to give a store, and the options of the routes.
const sentinel = { sentinels: [{ host: 'x', port: 1 }], name: 'x' }
const stores = ['rediss://x', { host: 'x', port: 1, tls: {} }, sentinel, new Redis(), new Cluster([])]
for (const redis of stores satisfies Array<PartnerSsoOptions['redis']>) {
  await app.register(partnerSso, { ...options, redis })
}
await app.register(partnerSso, { ...options, store })
await app.register(partnerSso, {
  ...options,
  store: 'memory',
  routeOptions: (route) => route === 'token' ? { config: { public: true } } : undefined
})
// @ts-expect-error -- no such store
await app.register(partnerSso<User>, { ...options, store: 'redis' })
// @ts-expect-error -- no such route
await app.register(partnerSso<User>, { ...options, routeOptions: (route) => route === 'login' ? {} : {} })
// What the protocol needs is not the host's.
type RouteOptions = Exclude<PartnerSsoOptions['routeOptions'], (route: never) => unknown>
type Own = 'errorHandler' | 'exposeHeadRoute' | 'validatorCompiler' | 'serializerCompiler'
export const taken: never[] = [] as Array<Extract<keyof NonNullable<RouteOptions>, Own>>

// What is needed is needed, and what is misspelt is found.
// @ts-expect-error -- no portal
await app.register(partnerSso, { currentUser, portalEligibility: () => null })
// @ts-expect-error -- no such option
await app.register(partnerSso<User>, { ...options, codeLifeTime: 60 })
const urls = { loginUrl: '', redirectUri: '' }
// @ts-expect-error -- no such level
export const level: PartnerSsoOptions['portal'] = { ...urls, clientId: '', clientSecret: '', level: 'both' }

// A role of another user type does not compile.
export const good: UserInformation[] = [
  { ...identity, type: 'partner', control_role: 'Partner Administrator' },
  { ...identity, type: 'client', control_role: 'Client Administrator', client_id: 1 },
  { ...identity, type: 'client', control_role: 'Client Read Only', client_id: '1', client_external_id: 'x' }
]
export const bad: UserInformation[] = [
  // @ts-expect-error -- a client role for a partner user
  { ...identity, type: 'partner', control_role: 'Client Administrator' },
  // @ts-expect-error -- a partner role for a client user
  { ...identity, type: 'client', control_role: 'Partner Read Only' },
  // @ts-expect-error -- a client field for a partner user
  { ...identity, type: 'partner', control_role: 'Partner Read Only', client_id: 1 },
  // @ts-expect-error -- no such product role
  { ...identity, type: 'partner', control_role: 'Partner Read Only', product_role: 'Product Owner' },
  // @ts-expect-error -- no name
  { ...nameless, type: 'partner', control_role: 'Partner Read Only' }
]

// The schema is one that TypeBox reads, and says the same as the type.
export const ofSchema = (record: UserInformation): Static<typeof schema> => record

// Events are discriminated by their type; portal information has no secret.
export function described (event: PartnerSsoEvent, { clientId }: PortalInformation): string {
  if (event.type === 'code_issued') return event.reason satisfies 'ok'
  // @ts-expect-error -- a refusal only
  if (event.type === 'token_issued') return event.expected
  return event.type === 'request_rejected' ? event.expected ?? clientId : ''
}
// @ts-expect-error -- no secret
export const secret = (portal: PortalInformation): string => portal.clientSecret
