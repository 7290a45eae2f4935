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

/** The second argument of `portalEligibility`. */
export interface EligibilityContext {
  /** The portal that the user wants to enter. */
  portal: PortalInformation
  /** The request at `GET /oauth/authorize`. */
  request: FastifyRequest
  /** For a page of your own. */
  reply: FastifyReply
}

type Eligibility = UserInformation | FastifyReply | null | undefined
type ErrorPage =
  (refusal: PageRefusal, request: FastifyRequest, reply: FastifyReply) => Awaitable<string | FastifyReply>

/**
 * Options of the plugin. `User` is your own user type: `currentUser` returns it and `portalEligibility` gets it.
 *
 * A bad option fails at `register()` with a TypeError that names the option, what it must be and what it got. The error
 * never has a secret in it. `undefined` counts as absent. An option that looks like a misspelt one is an error; any
 * other unknown option, as @fastify/autoload adds them, is named in one warning and ignored.
 */
export interface PartnerSsoOptions<User = any> {
  /**
   * The portal, one for each portal environment (test, live), or a function that finds one by its `client_id`. An empty
   * array starts with one warning, and every client is unknown: for an app that does not have the four values yet.
   *
   * A function is called with every request, and nothing is cached: portals can be added, changed and removed while the
   * app runs. It is called with 1 to 255 visible ASCII characters, and may take `storeTimeout`. Null and undefined mean
   * an unknown client. What it returns is checked like the option, and must have the `clientId` asked for. A throw or a
   * bad portal is refused with `server_error`, a timeout with `temporarily_unavailable`; the log has the reason.
   */
  portal: Portal | Portal[] | PortalFinder

  /**
   * Returns the user who is logged in at your application, or null or undefined when nobody is. Called at
   * `GET /oauth/authorize` only, after the parameters were checked. It may send a reply of its own and return `reply`;
   * the plugin then does nothing more. A throw is refused with `server_error`.
   */
  currentUser: (request: FastifyRequest, reply: FastifyReply) => Awaitable<User | FastifyReply | null | undefined>

  /**
   * Returns the record that this user enters the portal with, in wire format, or null to deny (`access_denied`).
   * Undefined denies too, with a warning: it may be a forgotten `return`. A throw, or a record that breaks a rule, is
   * refused with `server_error` and logged. It may send a page that says why this user may not enter, and whom to ask,
   * and return `reply`; the plugin then does nothing more, and the event is `sign_in_refused`, reason `not_eligible`.
   */
  portalEligibility: (user: User, context: EligibilityContext) => Awaitable<Eligibility>

  /**
   * Where a browser without a logged-in user is sent: a page that exists, and logs in. A string gets `?return_to=`
   * added, with the relative URL to come back to. A function gets that URL and returns the whole address; a throw in
   * it is refused with `server_error`. A cookie remembers the request as well: when the user has logged in,
   * `app.partnerSso.returnTo` returns its URL. A login that reads `return_to` by itself must accept relative URLs only.
   *
   * Without it the portal gets `access_denied`, and a warning at start says so.
   */
  loginPage?: string | ((returnTo: string, request: FastifyRequest) => string) | undefined

  /**
   * The page for a person whose sign-in cannot go back to the portal, in your language and look. Returns HTML, or sends
   * a reply of its own (`reply.view(…)`) and returns `reply`. Status and security headers stay; a
   * Content-Security-Policy that it sets stays too, with `frame-ancestors 'none'` beside it. A throw is logged, and the
   * plugin's own page is sent. A client that does not prefer HTML gets JSON in any case.
   */
  errorPage?: ErrorPage | undefined

  /**
   * Redis 6.2 or later: a `redis://` or `rediss://` URL, ioredis options, or a client of ioredis or iovalkey that you
   * already have. The plugin connects by itself, to the servers of your client by a duplicate of it: yours is neither
   * used, reconfigured nor closed. Not together with `store`. For a Cluster give `new Cluster([…])`: the address of one
   * node stops the start.
   *
   * Without `redis` (`''` is like none) and `store`, codes and tokens are kept in this process, so only one process can
   * serve the portal. A warning at start says so.
   */
  redis?: RedisOption | undefined

  /**
   * A store of your own, instead of `redis`. Test it with `checkStore` of `fastify-partner-sso/testing`.
   *
   * `'memory'` is the in-process store, on purpose and with no warning: for tests, or an app of one process.
   */
  store?: Store | 'memory' | undefined

  /**
   * Prefix of every Redis key, after the `keyPrefix` of the client itself. Used with `redis` only.
   * @default 'partner-sso:'
   */
  keyPrefix?: string | undefined

  /**
   * The most records that the in-process store keeps, 1 to 16777216; past it, the oldest is removed.
   * @default 100000
   */
  memoryLimit?: number | undefined

  /**
   * Milliseconds that a request waits for the store, all its store calls together, 1 to 30000. After that the request
   * is refused with `temporarily_unavailable`. A `portal` function may take as long again.
   * @default 1000
   */
  storeTimeout?: number | undefined

  /**
   * Seconds until an authorization code expires, 1 to 600 (RFC 6749 section 4.1.2: ten minutes at most).
   * @default 60
   */
  codeLifetime?: number | undefined

  /**
   * Seconds until an access token expires, 1 to 3600.
   * @default 60
   */
  tokenLifetime?: number | undefined

  /**
   * Called with every outcome, in addition to the log, as `(event, request, cause)`. An event has no secret, code,
   * token, e-mail address or name. `cause` is what was thrown, as the log line has it in `err`. A throw of `onEvent` is
   * logged and changes nothing. Where it is absent and the logger is off, a warning at start says that causes are lost.
   */
  onEvent?: OnEvent | undefined

  /**
   * Fastify route options for the three routes, or a function that returns those of one route: `config`, `constraints`,
   * `handlerTimeout`, hooks and the like. What the protocol needs (handlers, security headers, no HEAD routes) cannot
   * be changed by them.
   *
   * `config.rateLimit` works where @fastify/rate-limit is registered before the plugin: it adds itself to later routes
   * only. Where it is not, a warning at start says so.
   *
   * At the token endpoint Fastify's `handlerTimeout` ends when the body has arrived (fastify#6725). From there on
   * `storeTimeout` limits the request.
   */
  routeOptions?: RouteOptions | ((route: RouteName) => RouteOptions | undefined) | undefined

  /**
   * Fastify's own: the path before the routes. It begins with one slash and has no parameters (`/:tenant`): give each
   * tenant a registration with a prefix of its own, or one registration with `portal` as a function.
   * @default ''
   */
  prefix?: string
}

type RouteOptions =
  Omit<RouteShorthandOptions, 'errorHandler' | 'exposeHeadRoute' | 'validatorCompiler' | 'serializerCompiler'>
