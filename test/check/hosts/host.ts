// A correct app of a partner, made of parts. A row of the tables replaces one.
import cookie from '@fastify/cookie'
import type { CookieSerializeOptions } from '@fastify/cookie'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import type { FastifyHelmetOptions } from '@fastify/helmet'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import partnerSso from '../../../lib/index.ts'
import type { PartnerSsoOptions, Portal, Store } from '../../../lib/index.ts'
import type { CheckedUsers, Injectable, PortalSettings, User as Tester } from '../../../lib/testing/index.ts'

export interface User { id: string, email: string, name: string, isAgent: boolean }

export type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** What differs from the correct app. */
export interface Change {
  server?: FastifyServerOptions
  /** False: no security headers. */
  helmet?: FastifyHelmetOptions | false
  /** Attributes of the session cookie. */
  cookie?: CookieSerializeOptions
  /** What the app does before it registers the plugin. */
  prepare?: (app: FastifyInstance) => unknown
  plugin?: Partial<PartnerSsoOptions<User>>
  portal?: Partial<Portal>
  /** The login page. */
  page?: Hook
  /** Logs a user in. */
  remember?: (reply: FastifyReply, name: string, options: CookieSerializeOptions, request: FastifyRequest) => unknown
  /** Where a login leads. */
  back?: (request: FastifyRequest, reply: FastifyReply) => string
  /** How a login leads there. */
  sendBack?: (reply: FastifyReply, url: string) => unknown
  /** What the portal has in its configuration. */
  double?: Partial<PortalSettings>
  users?: CheckedUsers
  /** Wraps the app, or makes several of it. */
  wrap?: (start: (change?: Change) => Promise<FastifyInstance>) => Promise<Injectable>
}

/** Name, change, and the rules that fail: identifiers, with `advice:` before those that break nothing. */
export type Row = readonly [name: string, change: Change | (() => Change), ...expected: string[]]

const SECRET = 'only-for-tests-0123456789abcdefgh'

export const PORTAL = {
  loginUrl: 'https://portal.example/external-oauth/3f9c',
  clientId: 'partner-123',
  clientSecret: 'this-secret-is-only-for-tests',
  redirectUri: 'https://portal.example/oauth/callback'
}

const user = (id: string, name: string, isAgent = true): User =>
  ({ id, name, isAgent, email: `${id}@partner.example` })

export const USERS: Record<string, User> = {
  ada: user('u-1', 'Ada Okafor & Söhne'),
  cyd: user('u-3', 'Cyd O’Brien'),
  bo: user('u-2', 'Bo Lindqvist', false)
}

/** The name in a signed cookie, or undefined. */
export function signedIn (request: FastifyRequest, cookie = 'sid'): string | undefined {
  const { valid, value } = request.unsignCookie(request.cookies[cookie] ?? '')
  return valid ? value : undefined
}

/** A user with the session cookie that a login sets. */
export const byCookie = (name: string): Tester => ({ cookies: { sid: cookieOf(name) } })

/** The value of that cookie. */
export const cookieOf = (name: string): string => cookie.sign(name, SECRET)

export const userOf = (request: FastifyRequest): User | null => USERS[signedIn(request) ?? ''] ?? null

export const recordOf = ({ id, email, name }: User) => ({
  external_id: id,
  email,
  name,
  type: 'partner' as const,
  control_role: 'Partner Read Only' as const,
  product_role: 'Product Operator' as const
})

export const form = (inside = ''): string =>
  `<!doctype html><form method="post">${inside}<input name="user"><button>Log in</button></form>`

/** The login form, sent to this address. */
export const formTo = (action: string): string => form().replace('method="post"', `$& action="${action}"`)

export const returnTo = ({ query }: FastifyRequest): string => (query as Record<string, string>).return_to ?? '/'

/** Helmet with this form-action. */
export const formAction = (...sources: string[]): FastifyHelmetOptions =>
  ({ contentSecurityPolicy: { directives: { formAction: sources } } })

const CORRECT = {
  server: {},
  helmet: formAction("'self'", 'https://portal.example'),
  prepare: () => {},
  page: async () => form(),
  remember: (reply, name, options) => reply.setCookie('sid', name, options),
  back: (request, reply) => request.server.partnerSso.returnTo(request, reply) ?? '/',
  sendBack: (reply, url) => reply.redirect(url, 303)
} satisfies Change

/** A partner's app. */
export async function start (change: Change = {}): Promise<FastifyInstance> {
  const { server, helmet: headers, prepare, page, remember, back, sendBack, ...others } = { ...CORRECT, ...change }
  const app = Fastify(server)
  await app.register(cookie, { secret: SECRET })
  await app.register(formbody)
  if (headers !== false) await app.register(helmet, headers)
  await prepare(app)
  await app.register(partnerSso<User>, {
    portal: { ...PORTAL, ...others.portal },
    currentUser: userOf,
    portalEligibility: (user) => user.isAgent ? recordOf(user) : null,
    loginPage: '/login',
    store: 'memory',
    onEvent: () => {},
    ...others.plugin
  })
  app.get('/login', async (request, reply) => {
    const content = await page(request, reply)
    return reply.sent ? reply : reply.type('text/html').send(content)
  })
  app.post<{ Body: { user: string } }>('/login', async (request, reply) => {
    const { user } = request.body
    if (!Object.hasOwn(USERS, user)) return reply.type('text/html').send(form('There is no such user.'))
    const options = { signed: true, httpOnly: true, sameSite: 'lax', path: '/', ...others.cookie } as const
    remember(reply, user, options, request)
    return sendBack(reply, back(request, reply))
  })
  return app
}

/** A store as a partner may write it: correct, but for the operations that are replaced. */
export function ownStore (replace: (records: Map<string, string>) => Partial<Store> = () => ({})): Store {
  const records = new Map<string, string>()
  return {
    async put (key, value) {
      if (records.has(key)) return false
      records.set(key, value)
      return true
    },
    async take (key) {
      const value = records.get(key)
      records.delete(key)
      return value === undefined || value === '' ? null : value
    },
    async revoke (key) {
      const value = records.get(key)
      records.set(key, '')
      return value ?? null
    },
    ...replace(records)
  }
}

/** Several processes behind a balancer that asks them in turn. */
export function inTurn (...apps: FastifyInstance[]): Injectable {
  let count = 0
  return { inject: (options) => (apps[count++ % apps.length] as FastifyInstance).inject(options) }
}
