// A partner's application: its own users and one of the logins, and fastify-partner-sso to let them into the portal.
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { PartnerSsoOptions, Portal } from 'fastify-partner-sso'
import { formLogin } from './logins/form.ts'
import type { Login } from './logins/settings.ts'
import { stylesheet } from './pages.ts'
import { portalRecord } from './users.ts'
import type { User } from './users.ts'

export interface PartnerAppSettings {
  portal: Portal
  /** Signs cookies: 32 random characters or more. Whoever knows it can log in as anybody. */
  cookieSecret: string
  /** Default: a page with a form. */
  login?: Login
  /** More options of the plugin. By default codes and tokens are kept in this process. */
  sso?: Partial<PartnerSsoOptions<User>>
  /** Origins that a form leads to, beside the portal's: that of an identity provider. */
  formActions?: string[]
  /** Default: believes no X-Forwarded header. */
  trustProxy?: FastifyServerOptions['trustProxy']
  /** What the app needs before the plugin is registered. */
  prepare?: (app: FastifyInstance) => void
  /** Default: true. */
  logger?: FastifyServerOptions['logger']
}

export async function partnerApp (settings: PartnerAppSettings): Promise<FastifyInstance> {
  const { portal, cookieSecret, login = formLogin, formActions = [], prepare, logger = true } = settings
  // Behind a proxy that ends TLS: its address. The app then knows that its browsers use https, and every cookie is
  // Secure. Not true: anybody could send the header.
  const { trustProxy = process.env.TRUST_PROXY ?? false } = settings
  // Fastify's own ids, such as req-6, are the same in the log of every process.
  const app: FastifyInstance = Fastify({ logger, trustProxy, genReqId: () => randomUUID() })
  prepare?.(app)

  // Chrome and Safari apply form-action to the redirects after a form too: the login form leads back to the portal.
  const formAction = ['form-action \'self\'', new URL(portal.redirectUri).origin, ...formActions].join(' ')
  const sources = 'default-src \'none\'; style-src \'self\'; script-src \'self\'; connect-src \'self\''
  const policy = `${sources}; frame-ancestors 'none'; ${formAction}`
  app.addHook('onRequest', async (_request, reply) => { reply.header('content-security-policy', policy) })
  app.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet))

  await login(app, {
    sso: { portal, portalEligibility: portalRecord, store: 'memory', ...settings.sso },
    secret: cookieSecret,
    loginUrl: portal.loginUrl
  })
  return app
}
