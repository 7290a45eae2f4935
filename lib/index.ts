import type {
  FastifyBaseLogger, FastifyInstance, HTTPMethods, RegisterOptions, RouteOptions, RouteShorthandOptions
} from 'fastify'
import fp from 'fastify-plugin'
import { Decorator } from './decorator.ts'
import type { Registration } from './decorator.ts'
import { Reporter } from './events.ts'
import { AccessTokens } from './grants/access-token.ts'
import { AuthorizationCodes } from './grants/authorization-code.ts'
import { GrantKeys } from './grants/keys.ts'
import { addHeaders, partnerSsoErrorHandler, routeOf } from './http/endpoint.ts'
import type { Endpoint } from './http/endpoint.ts'
import { readForms } from './http/form.ts'
import { maskingSerializers } from './http/logged-request.ts'
import { DECIDED } from './http/responses.ts'
import { authorizePath, registerCookies, ReturnCookie } from './http/return-cookie.ts'
import { checkPrefix, resolveOptions } from './options/checked-options.ts'
import type { ResolvedOptions } from './options/checked-options.ts'
import type { PartnerSsoOptions } from './options/options.ts'
import { StartupWarnings } from './options/startup-warnings.ts'
import { portalsOf } from './portal/portals.ts'
import { authorizeRoute } from './routes/authorize.ts'
import type { Parts } from './routes/parts.ts'
import { tokenRoute } from './routes/token.ts'
import { userRoute } from './routes/user.ts'
import { wrongMethodRoute } from './routes/wrong-method.ts'
import { RouteExists } from './start-errors.ts'
import { openStore } from './stores/open.ts'
import { startTogether } from './stores/start-together.ts'
import { UserInformation } from './user-information.ts'

/** An app of any copy of Fastify 5: NestJS brings one of its own, whose types are not those of the copy seen here. */
type AnyFastify = Pick<FastifyInstance, 'prefix' | 'version'>

/**
 * The type of the plugin. Write `partnerSso<User>` with your own type of users: `portalEligibility` then gets a `User`,
 * and otherwise `any`.
 */
export interface PartnerSso {
  <User>(app: AnyFastify, options: PartnerSsoOptions<User>): Promise<void>
  (app: AnyFastify, options: PartnerSsoOptions): Promise<void>
}

const NAME = 'fastify-partner-sso'

/** Adds `app.partnerSso` to the scope of the host, and everything else to a scope of its own. */
async function plugin (app: AnyFastify, options: PartnerSsoOptions & RegisterOptions): Promise<void> {
  const host = app as FastifyInstance
  host.addHook('onRoute', requireAbsent)
  const ownScope = async (scope: FastifyInstance): Promise<void> => {
    Decorator.add(host, await registerRoutes(scope, options))
  }
  const { prefix, logLevel, logSerializers } = options
  // Traces and printPlugins() show a scope by its name.
  await host.register(fp(ownScope, { name: NAME, encapsulate: true }),
    { prefix, logLevel, logSerializers } as RegisterOptions)
}

/**
 * Refuses a route of the plugin that the app has already. Fastify would refuse it too, by an error that does not name
 * the plugin.
 *
 * @throws {@link RouteExists}
 */
function requireAbsent (this: FastifyInstance, { method, url, constraints = {} }: RouteOptions): void {
  if (!/\/oauth\/(?:authorize|token|user)$/.test(url)) return
  const methods = [method].flat() as HTTPMethods[]
  const existing = methods.find((each) => this.hasRoute({ method: each, url, constraints }))
  if (existing !== undefined) throw new RouteExists(existing, url)
}

/**
 * Checks the options, makes the parts of one registration, and registers its routes.
 *
 * @param app - the scope of the plugin
 * @param given - the options of the host
 * @returns what `app.partnerSso` needs to know about the registration
 */
async function registerRoutes (app: FastifyInstance, given: PartnerSsoOptions): Promise<Registration> {
  const warnings = new StartupWarnings(app.log)
  const { warn } = warnings
  const options = resolveOptions(given, warn)
  checkPrefix(app.prefix)
  warnings.warnOfSilence(options.onEvent)
  warnings.warnOfRateLimit(app, options.routeOptions)

  const store = await openStore(options, app.log, warn)
  app.addHook('onReady', startTogether(app, store))
  app.addHook('onClose', async () => store.close())

  app.decorateReply(DECIDED, null)
  app.setErrorHandler(partnerSsoErrorHandler)
  app.addHook('onRoute', addHeaders)
  await readForms(app)
  await registerCookies(app)

  const { currentUser, portalEligibility, loginPage, errorPage, storeTimeout } = options
  const keys = new GrantKeys(app.prefix)
  const reporter = new Reporter(options.onEvent)
  const returnCookie = new ReturnCookie(authorizePath(app.prefix), app)
  const parts: Parts = {
    portals: portalsOf(options.portal, storeTimeout, warn),
    codes: new AuthorizationCodes(store, keys, options.codeLifetime),
    tokens: new AccessTokens(store, keys, options),
    reporter,
    returnCookie,
    storeTimeout,
    currentUser,
    portalEligibility,
    loginPage,
    errorPage
  }
  const endpoints = [authorizeRoute(parts), tokenRoute(parts), userRoute(parts), wrongMethodRoute()]
  for (const endpoint of endpoints) app.route(routeOf(endpoint, hostOptionsOf(endpoint, options, app.log), reporter))
  return { isReady: () => store.isReady(), returnCookie }
}

/** Returns what the host gives for a route, with serializers that mask secrets in Fastify's own log lines. */
function hostOptionsOf (
  endpoint: Endpoint, { routeOptions, logSerializers }: ResolvedOptions, log: FastifyBaseLogger
): RouteShorthandOptions {
  const ofHost = routeOptions[endpoint.name]
  const expected = Object.keys(endpoint.documentation.querystring?.properties ?? {})
  const serializers = { ...logSerializers, ...ofHost.logSerializers }
  return { ...ofHost, logSerializers: maskingSerializers(log, expected, serializers) }
}

/**
 * Makes a Fastify app the OAuth 2.0 identity provider of a dispute-management portal: a user who is logged in at the
 * app enters the portal without a second password. Give it to `app.register()` with the
 * {@link PartnerSsoOptions options}.
 *
 * It adds the authorization endpoint `GET /oauth/authorize` and the token endpoint `POST /oauth/token` of the
 * authorization code grant, the endpoint `GET /oauth/user` that returns the user's record, and `app.partnerSso`
 * ({@link PartnerSsoDecorator}).
 *
 * `register()` rejects with one of these errors, which are made as Fastify's own are:
 *
 * @throws `FST_PARTNER_SSO_OPTION_INVALID`, a TypeError: an option has a value that it must not have
 * @throws `FST_PARTNER_SSO_OPTION_UNKNOWN`, a TypeError: an option looks like a misspelt one
 * @throws `FST_PARTNER_SSO_ROUTE_EXISTS`: the app already has one of the routes
 * @throws `FST_PARTNER_SSO_STORE_UNFIT`, from `app.ready()`: the store can never serve a sign-in
 *
 * @example
 *
 * ```ts
 * await app.register(partnerSso, {
 *   portal: {
 *     loginUrl: 'https://portal.example/external-oauth/3f9c',
 *     clientId: 'partner-123',
 *     clientSecret: process.env.PORTAL_CLIENT_SECRET,
 *     redirectUri: 'https://portal.example/oauth/callback'
 *   },
 *   currentUser: (request) => request.session.user ?? null,
 *   portalEligibility: (user) => user.mayDispute ? recordOf(user) : null,
 *   loginPage: '/login',
 *   redis: process.env.REDIS_URL
 * })
 * ```
 *
 * @see [RFC 6749 section 4.1](https://www.rfc-editor.org/rfc/rfc6749.html#section-4.1), the authorization code grant
 * @see [RFC 6750](https://www.rfc-editor.org/rfc/rfc6750.html), the access token at `GET /oauth/user`
 * @see [RFC 7636](https://www.rfc-editor.org/rfc/rfc7636.html), PKCE, which a portal may use
 */
const partnerSso: PartnerSso = fp(plugin, { name: NAME, fastify: '5.x' })

// `require()` returns the function itself, so the other exports are its properties. fastify-plugin has added `default`.
Object.assign(partnerSso, { partnerSso, UserInformation })

export { partnerSso as default, partnerSso, UserInformation }
/**
 * What `require()` returns. The declarations do not have this line (`stripInternal`): TypeScript below 5.6 cannot parse
 * a name in quotes.
 *
 * @internal
 */
export { partnerSso as 'module.exports' }
export type { PartnerSsoDecorator } from './decorator.ts'
export type {
  LoginRequiredEvent, OnEvent, PartnerSsoEvent, RefusalEvent, SuccessEvent, TokenIssuedEvent
} from './events.ts'
export type { RouteName } from './http/endpoint.ts'
export type { PageRefusal } from './http/error-page.ts'
export type { OAuthErrorCode, RedirectUriDifference, RefusalReason, RefusalType } from './errors.ts'
export type { EligibilityContext, PartnerSsoOptions } from './options/options.ts'
export type { Portal, PortalLevel } from './portal/portal.ts'
export type { PortalFinder } from './portal/portals.ts'
export type { PortalInformation } from './portal/registered-portal.ts'
export type { RedisClient } from './stores/redis-client.ts'
export type { Store } from './stores/store.ts'
export type { ClientUserInformation, PartnerUserInformation } from './user-information.ts'
