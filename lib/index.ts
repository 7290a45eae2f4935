import formbody from '@fastify/formbody'
import { type FastifyInstance, type RegisterOptions, type RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { AccessTokens } from './access-token.ts'
import { AuthorizationCodes } from './authorization-code.ts'
import { Reporter } from './events.ts'
import { openStore } from './open-store.ts'
import { type PartnerSsoOptions, settle } from './options.ts'
import { Parameters } from './parameters.ts'
import { Portals } from './portal.ts'
import { addProbe } from './readiness.ts'
import { authorizeRoute } from './routes/authorize.ts'
import { tokenRoute } from './routes/token.ts'
import { userRoute } from './routes/user.ts'

/** The plugin. `partnerSso<User>` names the host's user type, where it shall not be `any`. */
export interface PartnerSso {
  <User>(app: FastifyInstance<any, any, any, any, any>, options: PartnerSsoOptions<User>): Promise<void>
  (app: FastifyInstance<any, any, any, any, any>, options: PartnerSsoOptions): Promise<void>
}

/** Adds `app.partnerSso` to the host's own scope, and the rest in a scope inside. */
async function plugin (host: FastifyInstance, options: PartnerSsoOptions): Promise<void> {
  await host.register(async (app) => { addProbe(host, await endpoints(app, options)) }, options as RegisterOptions)
}

/** The three routes. Gives the probe that tells whether they can serve. */
async function endpoints (app: FastifyInstance, options: PartnerSsoOptions): Promise<() => Promise<boolean>> {
  const settings = settle(options)
  const { store, start, isReady, close } = await openStore(settings, app.log)
  app.addHook('onReady', start)
  app.addHook('onClose', close)

  const portals = new Portals(settings.portal)
  const codes = new AuthorizationCodes(store, settings.codeLifetime, app.prefix)
  const tokens = new AccessTokens(store, settings.tokenLifetime, app.prefix)
  const reporter = new Reporter(settings.onEvent)

  // A scope of its own: what the host set for bodies, validation and serialization stays outside.
  app.removeAllContentTypeParsers()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(formbody, { parser: (text) => new Parameters(text) as unknown as Record<string, unknown> })

  const add = (method: 'GET' | 'POST', url: string, route: Pick<RouteOptions, 'handler' | 'errorHandler' | 'onSend'>) => {
    const { onSend = [], ...routeOptions } = settings.routeOptions
    // A HEAD twin would issue a code, or use up a token. Our onSend is the last one.
    app.route({ ...routeOptions, ...route, method, url, exposeHeadRoute: false, onSend: [onSend, route.onSend ?? []].flat() })
  }
  add('GET', '/oauth/authorize', authorizeRoute({ settings, portals, codes, reporter }))
  add('POST', '/oauth/token', tokenRoute({ portals, codes, tokens, reporter }))
  add('GET', '/oauth/user', userRoute({ portals, tokens, reporter }))
  return isReady
}

/**
 * Makes a Fastify app the OAuth 2.0 identity provider of a dispute-management portal: `GET /oauth/authorize`,
 * `POST /oauth/token` and `GET /oauth/user` (RFC 6749 section 4.1, RFC 6750).
 */
const partnerSso: PartnerSso = fp(plugin, { name: 'fastify-partner-sso', fastify: '5.x' })

export { partnerSso as default, partnerSso, partnerSso as 'module.exports' }
export { type LoginRequiredEvent, type OnEvent, type PartnerSsoEvent, type RefusalEvent, type SuccessEvent } from './events.ts'
export { type OAuthErrorCode, type RefusalReason, type RefusalType } from './errors.ts'
export { type EligibilityContext, type PartnerSsoOptions } from './options.ts'
export { type Portal, type PortalInformation, type PortalLevel } from './portal.ts'
export { type PartnerSsoStatus } from './readiness.ts'
export { type Store } from './store.ts'
export { type ClientUserInformation, type PartnerUserInformation, UserInformation } from './user-information.ts'
