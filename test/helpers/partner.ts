// A partner's app: the plugin, a login form, three users. A test changes it in one place.
import { createHmac } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoOptions, UserInformation } from '../../lib/index.ts'
import { Fastify } from './fastify.ts'

interface Teardown { teardown (done: () => unknown): unknown }

export const CLIENT_ID = 'partner-123'
export const CLIENT_SECRET = 'a secret/of+the portal:~?>'
export const REDIRECT_URI = 'http://localhost:4180/oauth/callback'
/** What the portal is given, with more time than the default: a busy machine may need it. */
export const SETTINGS = {
  clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUri: REDIRECT_URI, timeout: 60_000
}

/** The same as the app registers it. */
export const PORTAL = {
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  redirectUri: REDIRECT_URI,
  loginUrl: 'https://portal.example/external-oauth/3f9c'
}

/** Who may enter. `eve` has a session, too. */
export const RECORDS = {
  ada: {
    external_id: 'u-1',
    email: 'ada@partner.example',
    name: 'Ada Lovelace',
    type: 'partner',
    control_role: 'Partner Administrator',
    product_role: 'Product Operator'
  },
  bob: {
    external_id: 'u-2',
    email: 'bob@partner.example',
    name: 'Bob <b>Client</b>',
    type: 'client',
    client_id: 42,
    client_name: 'Acme',
    control_role: 'Client Read Only',
    product_role: 'Product Read Only'
  }
} as const satisfies Record<string, UserInformation>
const USERS = [...Object.keys(RECORDS), 'eve']

/** The one thing in which an app differs. */
export interface Change {
  options?: Partial<PartnerSsoOptions<string>> & { prefix?: string }
  /** Before the plugin is registered. */
  prepare?: (app: FastifyInstance) => unknown
  loginPage?: (request: FastifyRequest, reply: FastifyReply) => unknown
  /** Where a login leads. */
  returnTo?: (request: FastifyRequest, reply: FastifyReply, app: FastifyInstance) => string
}

const signed = (user: string): string => `${user}.${createHmac('sha256', 'of the app').update(user).digest('hex')}`

/** The session of a user. */
export const sessionOf = (user: string): string => `sid=${signed(user)}`

/** Who is logged in, by a signed cookie. */
function userOf ({ headers }: FastifyRequest): string | null {
  const given = /(?:^|; )sid=([^;]*)/.exec(headers.cookie ?? '')?.[1]
  return USERS.find((user) => signed(user) === given) ?? null
}

const form = (_request: unknown, reply: FastifyReply): unknown => reply
  .headers({ 'content-type': 'text/html', 'content-security-policy': 'frame-ancestors \'none\'' })
  .send('<!doctype html><title>Log in</title><form method=post><input name=user><button>Log in</button></form>')

/** The app. It is ready when it is used. */
export function partner (change: Change = {}): FastifyInstance {
  const { options = {}, loginPage = form } = change
  const app = Fastify() as FastifyInstance
  change.prepare?.(app)
  app.register(formbody)
  app.register(partnerSso<string>, {
    portal: PORTAL,
    currentUser: userOf,
    portalEligibility: (user) => RECORDS[user as keyof typeof RECORDS] ?? null,
    loginPage: '/login',
    store: 'memory',
    onEvent: () => {},
    ...options
  })
  app.register(async (app) => {
    app.get('/login', (request, reply) => loginPage(request, reply))
    app.post<{ Body: { user?: string } }>('/login', (request, reply) => {
      const { user = '' } = request.body
      if (!USERS.includes(user)) return loginPage(request, reply.code(401))
      const returnTo = change.returnTo ?? ((request, reply, app) => app.partnerSso.returnTo(request, reply) ?? '/')
      reply.header('set-cookie', `${sessionOf(user)}; Path=/; HttpOnly; SameSite=Lax`)
      return reply.redirect(returnTo(request, reply, app), 303)
    })
    app.get('/', (_request, reply) => reply.type('text/html').send('<!doctype html><title>Home</title>'))
  })
  return app
}

/** The app on a port of its own; closed with the test. */
export async function listening (t: Teardown, change: Change = {}): Promise<{ app: FastifyInstance, baseUrl: string }> {
  const app = partner(change)
  t.teardown(() => app.close())
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, baseUrl: `${origin}${change.options?.prefix ?? ''}` }
}

/** A hook of the app that responds before the plugin does. */
export const hookAt = (path: string, status: number, body: object): Change => ({
  prepare: (app) => app.addHook('onRequest', async ({ url }, reply) =>
    url.startsWith(path) ? reply.code(status).send(body) : undefined)
})

/** A hook of the app that changes what the plugin sends. */
export const sentAt = (
  path: string, change: (payload: string, request: FastifyRequest, reply: FastifyReply) => unknown
): Change => ({
  prepare: (app) => app.addHook('onSend', async (request, reply, payload) =>
    request.url.startsWith(path) && typeof payload === 'string' ? change(payload, request, reply) : payload)
})

/** Adds to, or replaces in, what the endpoint sends as JSON. */
export const jsonAt = (path: string, changes: object): Change =>
  sentAt(path, (payload) => payload.startsWith('{') ? JSON.stringify({ ...JSON.parse(payload), ...changes }) : payload)
