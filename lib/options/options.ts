import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { OnEvent } from '../events.ts'
import type { RouteName } from '../http/endpoint.ts'
import type { PageRefusal } from '../http/error-page.ts'
import type { Portal } from '../portal/portal.ts'
import type { PortalFinder } from '../portal/portals.ts'
import type { PortalInformation } from '../portal/registered-portal.ts'
import type { RedisOption } from '../stores/redis-client.ts'
import type { Store } from '../stores/store.ts'
import type { UserInformation } from '../user-information.ts'

type Awaitable<T> = T | Promise<T>

/**
 * The second argument of {@link PartnerSsoOptions.portalEligibility `portalEligibility`}: everything beside the user
 * that a decision may depend on.
 */
export interface EligibilityContext {
  /** The portal that the user wants to enter. It has no secret. */
  portal: PortalInformation
  /** The request at `GET /oauth/authorize`. Its parameters were checked. */
  request: FastifyRequest
  /** The reply to that request, for a page of your own that says why the user may not enter. */
  reply: FastifyReply
}

type Eligibility = UserInformation | FastifyReply | null | undefined
type ErrorPage =
  (refusal: PageRefusal, request: FastifyRequest, reply: FastifyReply) => Awaitable<string | FastifyReply>

/**
 * Options of the plugin.
 *
 * `register()` rejects an option with a value that it must not have (code `FST_PARTNER_SSO_OPTION_INVALID`) and an
 * option whose name looks like a misspelt one (code `FST_PARTNER_SSO_OPTION_UNKNOWN`). The error names the option, what
 * it must be and the kind of what it got, never a secret. Any other unknown option, as @fastify/autoload adds them, is
 * named in one warning and ignored. `undefined` counts as absent.
 *
 * @template User - your own type of users: `currentUser` returns it, and `portalEligibility` gets it
 */
export interface PartnerSsoOptions<User = any> {
  /**
   * The portal, one for each portal environment (test, live), or a function that finds one by its `client_id`.
   *
   * An empty array is for an app that does not have the values of a portal yet: the app starts with one warning, and
   * every client is unknown.
   *
   * A function is called at each request, and what it returns is not kept: portals can be added, changed and removed
   * while the app runs. See {@link PortalFinder}.
   */
  portal: Portal | Portal[] | PortalFinder

  /**
   * Finds the user who is logged in at your application. It is called at `GET /oauth/authorize` only, after the
   * parameters of the request were checked.
   *
   * The function may send a reply of its own, such as a redirect to a login or a page that asks for a second factor,
   * and return `reply`. The plugin then does nothing more. When the function throws, the portal gets `server_error`,
   * and the log and the event have what was thrown.
   *
   * @param request - the request of the user's browser
   * @param reply - the reply to it
   * @returns the user, or null or undefined where nobody is logged in, or `reply` where it was sent
   */
  currentUser: (request: FastifyRequest, reply: FastifyReply) => Awaitable<User | FastifyReply | null | undefined>

  /**
   * Decides whether a user may enter a portal, and as whom. It is called after `currentUser` has returned a user.
   *
   * The function may send a page that says why this user may not enter and whom to ask, and return `reply`. The plugin
   * then does nothing more, and the event is `sign_in_refused` with the reason `not_eligible`. When the function
   * throws, or the record breaks a rule, the portal gets `server_error`, and the log and the event say why.
   *
   * @param user - what `currentUser` returned
   * @param context - the portal, the request and the reply
   * @returns the record in wire format; null where the user may not enter (the portal gets `access_denied`); or `reply`
   *   where it was sent. Undefined denies as null does, with a warning in the log, since a `return` may be missing
   */
  portalEligibility: (user: User, context: EligibilityContext) => Awaitable<Eligibility>

  /**
   * The page to which a browser goes where nobody is logged in: a page that exists and that logs in.
   *
   * A string gets the parameter `return_to` added: the relative URL of the authorization request, to which the login
   * leads back. A function gets that URL and returns the whole address of the login page; when it throws, the portal
   * gets `server_error`. A cookie remembers the request as well: after the login, call
   * `app.partnerSso.returnTo()`. A login that reads `return_to` itself must accept relative URLs only.
   *
   * Without `loginPage` the portal gets `access_denied` where nobody is logged in. A warning at the start says so.
   */
  loginPage?: string | ((returnTo: string, request: FastifyRequest) => string) | undefined

  /**
   * Makes the page for a person whose sign-in cannot go back to the portal (RFC 6749 section 4.1.2.1), in your language
   * and look. A client that does not prefer HTML gets JSON in any case.
   *
   * The status and the security headers of the response stay as they are. A Content-Security-Policy that you set stays
   * too, with the plugin's `frame-ancestors 'none'` beside it. When the function throws, the error is logged, and the
   * plugin sends its own page.
   *
   * @param refusal - what the page can show
   * @param request - the request of the person's browser
   * @param reply - the reply to it
   * @returns HTML, or `reply` where it was sent, for instance by `reply.view()`
   */
  errorPage?: ErrorPage | undefined

  /**
   * Where codes and access tokens are kept until they are redeemed: Redis 6.2 or later. It is a `redis://` or
   * `rediss://` URL, options of ioredis, or a client of ioredis or iovalkey that you already have. For a Cluster give
   * `new Cluster([…])`: with the address of one of its nodes the app does not start.
   *
   * The plugin has a connection of its own, which it closes with the app. Where you give a client, that connection is a
   * duplicate of it: your client is neither used, reconfigured nor closed.
   *
   * Without `redis` and `store`, codes and tokens are kept in the memory of this process, so that only one process can
   * serve the portal. A warning at the start says so. An empty string counts as absent.
   */
  redis?: RedisOption | undefined

  /**
   * A store of your own, instead of `redis`. Test it with `checkStore` of `fastify-partner-sso/testing`.
   *
   * `'memory'` is the in-process store on purpose, without the warning: for tests, or for an app of one process.
   */
  store?: Store | 'memory' | undefined

  /**
   * Prefix of every key in Redis. It comes after the `keyPrefix` of your own client, if that has one. Other stores do
   * not use it.
   *
   * @default 'partner-sso:'
   */
  keyPrefix?: string | undefined

  /**
   * The most records that the in-process store keeps, from 1 to 16777216. Where there are more, the oldest is removed.
   *
   * @default 100000
   */
  memoryLimit?: number | undefined

  /**
   * The longest time that a request waits for the store, all its calls of the store together: from 1 to 30000
   * milliseconds. After that time the request is refused with `temporarily_unavailable`. A `portal` function has the
   * same time for itself.
   *
   * @default 1000
   */
  storeTimeout?: number | undefined

  /**
   * Seconds until an authorization code expires, from 1 to 600 (RFC 6749 section 4.1.2: ten minutes at most).
   *
   * @default 60
   */
  codeLifetime?: number | undefined

  /**
   * Seconds until an access token expires, from 1 to 3600.
   *
   * @default 60
   */
  tokenLifetime?: number | undefined

  /**
   * Called with each outcome of a request, in addition to the log. Where it is absent and the logger is off, a warning
   * at the start says that nobody will learn what your functions throw.
   */
  onEvent?: OnEvent | undefined

  /**
   * Route options of Fastify for the three routes, or a function that returns those of one route: `config`,
   * `constraints`, `handlerTimeout`, hooks and others. They cannot change what the protocol needs: handlers, security
   * headers, and that no route has a HEAD twin.
   *
   * `config.rateLimit` has an effect where @fastify/rate-limit is registered before this plugin: it adds itself to
   * later routes only. A warning at the start says where it is not.
   *
   * At the token endpoint the time of Fastify's `handlerTimeout` ends when the body has arrived (fastify#6725). After
   * that `storeTimeout` limits the request.
   */
  routeOptions?: RouteOptions | ((route: RouteName) => RouteOptions | undefined) | undefined

  /**
   * Fastify's own option: the path before the three routes. It begins with one slash and has no parameters such as
   * `/:tenant`. For several tenants, register the plugin once for each with a prefix of its own, or once with `portal`
   * as a function.
   *
   * @default ''
   */
  prefix?: string
}

type RouteOptions =
  Omit<RouteShorthandOptions, 'errorHandler' | 'exposeHeadRoute' | 'validatorCompiler' | 'serializerCompiler'>
