// A partner's application: its own users and login page, and fastify-partner-sso to let them into the portal.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import partnerSso, { type Portal } from 'fastify-partner-sso'
import { homePage, loginPage, stylesheet } from './pages.js'
import { portalRecord, type User, users } from './users.js'

export interface PartnerAppSettings {
  portal: Portal
  /** Signs the session cookie. */
  cookieSecret: string
  /** Redis of the codes and tokens; without it they live in this process. */
  redis?: string
  /** Whether the app is reached by https. */
  secure?: boolean
  logger?: boolean
}

export async function partnerApp ({ portal, cookieSecret, redis, secure = false, logger = true }: PartnerAppSettings): Promise<FastifyInstance> {
  const app = Fastify({ logger })
  await app.register(cookie, { secret: cookieSecret })
  await app.register(formbody)

  app.addHook('onRequest', async (_request, reply) => {
    // After the login form the browser is sent on to the portal. Chrome and Safari hold that way against form-action,
    // so the portal's origin must be in it.
    reply.header('content-security-policy', `default-src 'none'; style-src 'self'; frame-ancestors 'none'; form-action 'self' ${new URL(portal.redirectUri).origin}`)
  })

  await app.register(partnerSso<User>, {
    portal,
    currentUser,
    portalEligibility: portalRecord,
    loginPage: '/login',
    ...(redis === undefined ? {} : { redis })
  })

  app.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet))

  app.get('/', (request, reply) => {
    const user = currentUser(request)
    return user === null ? reply.redirect('/login') : reply.type('text/html').send(homePage(user, portal.loginUrl))
  })

  app.get<{ Querystring: { return_to?: string } }>('/login', (request, reply) =>
    reply.type('text/html').send(loginPage(users, returnTo(request.query.return_to), false)))

  app.post<{ Body: { user?: string, return_to?: string } | undefined }>('/login', (request, reply) => {
    const { user: id, return_to: back } = request.body ?? {}
    if (!users.some((user) => user.id === id)) {
      return reply.code(400).type('text/html').send(loginPage(users, returnTo(back), true))
    }
    return reply
      // Lax, not Strict: the portal sends the browser here from another site, and the session must come along.
      .setCookie('acme_session', id as string, { path: '/', httpOnly: true, sameSite: 'lax', secure, signed: true })
      .redirect(returnTo(back), 303)
  })

  app.post('/logout', (_request, reply) => reply.clearCookie('acme_session', { path: '/' }).redirect('/login', 303))

  return app
}

/** Who is logged in, by the signed session cookie. */
function currentUser (request: FastifyRequest): User | null {
  const { valid, value } = request.unsignCookie(request.cookies.acme_session ?? '')
  return (valid && users.find(({ id }) => id === value)) || null
}

/** Where to go after the login: a page of this site, whatever was asked for. */
export function returnTo (asked: unknown): string {
  const here = 'http://here.invalid'
  if (typeof asked !== 'string' || !URL.canParse(asked, here)) return '/'
  const { origin, pathname, search } = new URL(asked, here)
  // The path alone, and never one that a browser would take for a host.
  return origin === here ? pathname.replace(/^\/+/, '/') + search : '/'
}
