// A partner's application: its own users and login page, and fastify-partner-sso to let them into the portal.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify'
import partnerSso from 'fastify-partner-sso'
import type { PartnerSsoOptions, Portal } from 'fastify-partner-sso'
import { homePage, loginPage, stylesheet } from './pages.ts'
import { portalRecord, users } from './users.ts'
import type { User } from './users.ts'

export interface PartnerAppSettings {
  portal: Portal
  /** Signs the session cookie: 32 random characters or more. Whoever knows it can log in as anybody. */
  cookieSecret: string
  /** More options of the plugin. By default codes and tokens live in this process. */
  sso?: Partial<PartnerSsoOptions<User>>
  /** Whether browsers reach the application by https. Default: false. */
  secure?: boolean
  /** What the app needs before the plugin is registered. */
  prepare?: (app: FastifyInstance) => void
  /** Default: true. */
  logger?: FastifyServerOptions['logger']
}

export async function partnerApp (settings: PartnerAppSettings): Promise<FastifyInstance> {
  const { portal, cookieSecret, sso = {}, secure = false, prepare, logger = true } = settings
  if (String(cookieSecret ?? '').length < 32) throw new Error('cookieSecret must have 32 characters or more')
  const app: FastifyInstance = Fastify({ logger })
  prepare?.(app)
  await app.register(cookie, { secret: cookieSecret })
  await app.register(formbody)

  // Chrome and Safari apply form-action to the redirects after a form too: the login form leads back to the portal.
  const formAction = `'self' ${new URL(portal.redirectUri).origin}`
  app.addHook('onRequest', async (_request, reply) => {
    const policy = `default-src 'none'; style-src 'self'; frame-ancestors 'none'; form-action ${formAction}`
    reply.header('content-security-policy', policy)
  })

  await app.register(partnerSso<User>, {
    portal,
    currentUser,
    portalEligibility: portalRecord,
    loginPage: '/login',
    ...sso
  })

  app.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet))

  app.get('/', (request, reply) => {
    const user = currentUser(request)
    return user === null ? reply.redirect('/login') : reply.type('text/html').send(homePage(user, portal.loginUrl))
  })

  app.get('/login', (_request, reply) => reply.type('text/html').send(loginPage(users)))

  app.post<{ Body: { user?: string } | undefined }>('/login', (request, reply) => {
    const { user: id = '' } = request.body ?? {}
    if (!users.some((user) => user.id === id)) {
      return reply.code(400).type('text/html').send(loginPage(users, true))
    }
    return reply
      // Lax, not Strict: the portal redirects the browser here from another site, and the session must be sent.
      .setCookie('acme_session', id, { path: '/', httpOnly: true, sameSite: 'lax', secure, signed: true })
      // Back to the portal's request, or to the home page.
      .redirect(app.partnerSso.returnTo(request, reply) ?? '/', 303)
  })

  app.post('/logout', (_request, reply) => reply.clearCookie('acme_session', { path: '/' }).redirect('/login', 303))

  return app
}

/** The user who is logged in, by the signed session cookie. */
function currentUser (request: FastifyRequest): User | null {
  const { valid, value } = request.unsignCookie(request.cookies.acme_session ?? '')
  return (valid && users.find(({ id }) => id === value)) || null
}
