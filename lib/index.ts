import formbody from '@fastify/formbody'
import { type FastifyInstance, type RegisterOptions, type RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { AccessTokens } from './grants/access-token.ts'
import { AuthorizationCodes } from './grants/authorization-code.ts'
import { Reporter } from './events.ts'
import { routeOf } from './http/endpoint.ts'
import { maskingSerializers } from './http/logged-request.ts'
import { openStore } from './stores/open.ts'
import { type PartnerSsoOptions, settle } from './options.ts'
import { Parameters } from './http/parameters.ts'
import { Portals } from './portal.ts'
import { addProbe } from './readiness.ts'
import { authorizeRoute } from './routes/authorize.ts'
import { tokenRoute } from './routes/token.ts'
import { userRoute } from './routes/user.ts'
import { type ClientUserInformation, type PartnerUserInformation, UserInformation } from './user-information.ts'

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
  const { store, start, isReady, close } = await openStore(settings, { log: app.log, warn: (message) => app.log.warn(message) })
  app.addHook('onReady', start)
  app.addHook('onClose', close)

  const portals = new Portals(settings.portal)
  const codes = new AuthorizationCodes(store, settings.codeLifetime, app.prefix)
  const tokens = new AccessTokens(store, settings.tokenLifetime, app.prefix)
  const reporter = new Reporter(settings.onEvent)

  // A scope of its own: what the host set for bodies stays outside.
  app.removeAllContentTypeParsers()
  await app.register(formbody, { parser: (text) => new Parameters(text) as unknown as Record<string, unknown> })

  const logSerializers = maskingSerializers(app.log, { ...settings.logSerializers, ...settings.routeOptions.logSerializers })
  const { storeTimeout, currentUser, portalEligibility, loginPage } = settings
  const common = { portals, reporter, storeTimeout }
  const routeOptions = { ...settings.routeOptions, logSerializers }
  for (const endpoint of [
    authorizeRoute({ ...common, codes, currentUser, portalEligibility, loginPage }),
    tokenRoute({ ...common, codes, tokens }),
    userRoute({ ...common, tokens })
  ]) addRoute(app, routeOf(endpoint, routeOptions))
  return isReady
}

function addRoute (app: FastifyInstance, route: RouteOptions): void {
  try {
    app.route(route)
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'FST_ERR_DUPLICATED_ROUTE') throw cause
    throw new Error(`partner-sso: ${String(route.method)} ${app.prefix}${route.url} is there already. Where the plugin is registered ` +
      'more than once, or the app has such a route of its own, give each registration a "prefix" of its own', { cause })
  }
}

/**
 * Makes a Fastify app the OAuth 2.0 identity provider of a dispute-management portal: `GET /oauth/authorize`,
 * `POST /oauth/token` and `GET /oauth/user` (RFC 6749 section 4.1, RFC 6750).
 */
const partnerSso: PartnerSso = fp(plugin, { name: 'fastify-partner-sso', fastify: '5.x' })

// What `require()` gives is the function itself, so it bears the other names; `default` is there already.
Object.assign(partnerSso, { partnerSso, UserInformation })

export { partnerSso as default, partnerSso, partnerSso as 'module.exports' }
export {
  type LoginRequiredEvent, type OnEvent, type PartnerSsoEvent, type RefusalEvent, type SuccessEvent, type TokenIssuedEvent
} from './events.ts'
export { type OAuthErrorCode, type RefusalReason, type RefusalType } from './errors.ts'
export { type RedirectUriDifference } from './http/redirect-uri-difference.ts'
export { type EligibilityContext, type PartnerSsoOptions } from './options.ts'
export { type Portal, type PortalInformation, type PortalLevel } from './portal.ts'
export { type PartnerSsoStatus } from './readiness.ts'
export { type RedisClient } from './stores/redis-client.ts'
export { type Store } from './stores/store.ts'
export { type ClientUserInformation, type PartnerUserInformation, UserInformation }
