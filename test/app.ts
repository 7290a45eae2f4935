// The partner's app of all tests: the plugin, a login form with a signed session cookie, and three people: `ada` and
// `bob` may enter the portal, `eve` may not. A test names the one thing in which its app differs.
import { createHmac } from 'node:crypto'
import formbody from '@fastify/formbody'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import partnerSso from '../lib/index.ts'
import type { PartnerSsoEvent, PartnerSsoOptions, UserInformation } from '../lib/index.ts'
import { Fastify } from './helpers/fastify.ts'
import type { Factory } from './helpers/fastify.ts'

interface Teardown { teardown (stop: () => unknown): unknown }

/** The portal as the app registers it. Its secret has a character of each kind that some encoding changes. */
export const PORTAL = {
  loginUrl: 'https://portal.example/external-oauth/3f9c',
  clientId: 'partner-123',
  clientSecret: 'a secret/of+the portal: 100 % & ~?>',
  redirectUri: 'https://portal.example/oauth/callback'
}

/** What the portal is given, with more time than the default: a busy machine may need it. */
export const SETTINGS = {
  clientId: PORTAL.clientId, clientSecret: PORTAL.clientSecret, redirectUri: PORTAL.redirectUri, timeout: 60_000
}

/** The records of those who may enter: a user of the partner, and one of a client. */
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

/** The record of a person who may enter, or null. */
export const recordOf = (person: string): UserInformation | null => RECORDS[person as keyof typeof RECORDS] ?? null

const PEOPLE = ['ada', 'bob', 'eve']

const signed = (person: string): string =>
  `sid=${person}.${createHmac('sha256', 'of the app').update(person).digest('hex')}`

const sessions = new Map(PEOPLE.map((person) => [signed(person), person]))

/** The Cookie header of a person who is logged in. */
export const sessionOf = (person: string): string => signed(person)

/** The Set-Cookie header of a login. */
export const sessionCookie = (person: string, attributes = 'Path=/; HttpOnly; SameSite=Lax'): string =>
  `${sessionOf(person)}; ${attributes}`

/** Who is logged in: the name of a person. */
export function personOf ({ headers: { cookie = '' } }: Pick<FastifyRequest, 'headers'>): string | null {
  return cookie.split('; ').map((pair) => sessions.get(pair)).find((person) => person !== undefined) ?? null
}

export type Options = Partial<PartnerSsoOptions<string>> & { prefix?: string }

/**
 * Options of the plugin in the app. The store may take as long as the option allows: no busy machine takes longer by
 * chance.
 */
export function pluginOptions (changes: Options = {}): PartnerSsoOptions<string> & { prefix?: string } {
  return {
    portal: PORTAL,
    storeTimeout: 30_000,
    currentUser: personOf,
    portalEligibility: recordOf,
    loginPage: '/login',
    ...changes.redis === undefined ? { store: 'memory' as const } : {},
    onEvent: () => {},
    ...changes
  }
}

/** In what an app differs. */
export interface Change {
  /** What makes the app: another version of Fastify. */
  factory?: Factory
  server?: FastifyServerOptions
  /** What the app does before it registers the plugin. */
  prepare?: (app: FastifyInstance) => unknown
  options?: Options
  /** What the app does after it. */
  finish?: (app: FastifyInstance) => unknown
  /** False: there is no login, and the plugin knows of none. */
  login?: false
  /** The login page, in place of one with a form. */
  loginPage?: (request: FastifyRequest, reply: FastifyReply) => unknown
  /** How a login keeps in mind who the person is, in place of by the session cookie. */
  startSession?: (person: string, reply: FastifyReply, request: FastifyRequest) => unknown
  /** Where a login leads, in place of back to the authorization request. */
  returnTo?: (request: FastifyRequest, reply: FastifyReply, app: FastifyInstance) => string
  /** How a login leads there, in place of by a redirect with status 303. */
  leadTo?: (url: string, reply: FastifyReply) => unknown
}

/** The app. It is ready when it is first used. */
export function partnerApp (change: Change = {}): FastifyInstance {
  const { factory = Fastify, server = {}, prepare = () => {}, finish = () => {}, login } = change
  const app = factory(server) as FastifyInstance
  app.register(fastifyPlugin(async (app) => { await prepare(app) }))
  const ofLogin = login === false ? { loginPage: undefined } : {}
  app.register(partnerSso<string>, pluginOptions({ ...ofLogin, ...change.options }))
  app.register(fastifyPlugin(async (app) => { await finish(app) }))
  if (login !== false) app.register(async (app) => { await addLogin(app, change) })
  return app
}

/** A page with a form, which logs in whoever is named, and the page of the app itself. */
async function addLogin (
  app: FastifyInstance, { loginPage = form, startSession = setCookie, returnTo = back, leadTo = redirect }: Change
): Promise<void> {
  if (!app.hasContentTypeParser('application/x-www-form-urlencoded')) await app.register(formbody)
  app.get('/login', (request, reply) => loginPage(request, reply))
  app.post<{ Body: { user?: string } }>('/login', (request, reply) => {
    const { user = '' } = request.body
    if (!PEOPLE.includes(user)) return loginPage(request, reply.code(401))
    startSession(user, reply, request)
    return leadTo(returnTo(request, reply, app), reply)
  })
  app.get('/', (_request, reply) => reply.type('text/html').send('<!doctype html><title>Home</title>'))
}

const form = (_request: unknown, reply: FastifyReply): unknown => reply
  .headers({ 'content-type': 'text/html', 'content-security-policy': 'frame-ancestors \'none\'' })
  .send('<!doctype html><title>Log in</title><form method=post><input name=user><button>Log in</button></form>')

const setCookie = (person: string, reply: FastifyReply): unknown => reply.header('set-cookie', sessionCookie(person))

const redirect = (url: string, reply: FastifyReply): unknown => reply.redirect(url, 303)

const back = (request: FastifyRequest, reply: FastifyReply, app: FastifyInstance): string =>
  app.partnerSso.returnTo(request, reply) ?? '/'

export interface Started {
  app: FastifyInstance
  /** Where it listens: an origin. */
  url: string
  /** The same with the prefix of the plugin. */
  baseUrl: string
  /** What the plugin has reported so far, unless the test has an `onEvent` of its own. */
  events: PartnerSsoEvent[]
}

/** The app on a free port; it is closed with the test. */
export async function startApp (t: Teardown, change: Change = {}): Promise<Started> {
  const events: PartnerSsoEvent[] = []
  const onEvent = (event: PartnerSsoEvent): unknown => events.push(event)
  const app = partnerApp({ ...change, options: { onEvent, ...change.options } })
  t.teardown(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url, baseUrl: `${url}${change.options?.prefix ?? ''}`, events }
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
