import { isPromise } from 'node:util/types'
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { RedisOptions } from 'ioredis'
import { assertOption, isVisibleAscii, kindOf } from '../assert.ts'
import type { OnEvent } from '../events.ts'
import type { RouteName } from '../http/endpoint.ts'
import { similarName } from './misspellings.ts'
import { checkPortal } from '../portal/portal.ts'
import type { Portal } from '../portal/portal.ts'
import type { PortalFinder } from '../portal/portals.ts'
import type { PortalInformation } from '../portal/registered-portal.ts'
import type { Warn } from './startup-warnings.ts'
import { isRedisClient, isRedisOptions, isRedisUrl } from '../stores/redis-client.ts'
import type { RedisClient } from '../stores/redis-client.ts'
import type { Store } from '../stores/store.ts'
import type { UserInformation } from '../user-information.ts'

type Awaitable<T> = T | Promise<T>

/** The second argument of `portalEligibility`. */
export interface EligibilityContext {
  /** The portal that the user wants to enter. */
  portal: PortalInformation
  /** The request at `GET /oauth/authorize`. */
  request: FastifyRequest
}

/**
 * Options of the plugin. `User` is your own user type: `currentUser` returns it and `portalEligibility` gets it.
 *
 * A bad option fails at `register()` with a TypeError that names the option, what it must be and what it got. The error
 * never has a secret in it. `undefined` counts as absent. An option that looks like a misspelt one is an error; any
 * other unknown option, as @fastify/autoload adds them, is named in one warning and ignored.
 */
export interface PartnerSsoOptions<User = any> {
  /**
   * The portal, one for each portal environment (test, live), or a function that finds one by its `client_id`.
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
   * refused with `server_error` and logged.
   */
  portalEligibility: (user: User, context: EligibilityContext) => Awaitable<UserInformation | null | undefined>

  /**
   * Where a browser without a logged-in user is sent. A string gets `?return_to=` added, with the relative URL to come
   * back to. A function gets that URL and returns the whole address; a throw in it is refused with `server_error`. A
   * cookie remembers the request as well: when the user has logged in, `app.partnerSso.returnTo` returns its URL. A
   * login that reads `return_to` by itself must accept relative URLs only.
   *
   * Without it the portal gets `access_denied`, and a warning at start says so.
   */
  loginPage?: string | ((returnTo: string, request: FastifyRequest) => string) | undefined

  /**
   * Redis 6.2 or later: a `redis://` or `rediss://` URL, ioredis options, or a client of ioredis or iovalkey that you
   * already have. A client made by the plugin is closed with the app; yours is neither reconfigured nor closed. Not
   * together with `store`. On a client of yours, use no MULTI without a pipeline and no blocking command: sign-ins wait
   * for them, or fail.
   *
   * Without `redis` and `store`, codes and tokens are kept in this process, so only one process can serve the portal.
   * A warning at start says so.
   */
  redis?: string | RedisOptions | RedisClient | undefined

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
   * Fastify's own: the path before the three routes. It may have no parameters (`/:tenant`): give each tenant a
   * registration with a prefix of its own, or one registration with `portal` as a function.
   * @default ''
   */
  prefix?: string
}

type RouteOptions =
  Omit<RouteShorthandOptions, 'errorHandler' | 'exposeHeadRoute' | 'validatorCompiler' | 'serializerCompiler'>

const defaults = {
  keyPrefix: 'partner-sso:',
  memoryLimit: 100_000,
  storeTimeout: 1000,
  codeLifetime: 60,
  tokenLifetime: 60
}

type Defaults = typeof defaults

/** The options, checked, with the defaults filled in. */
export interface ResolvedOptions extends Omit<PartnerSsoOptions, keyof Defaults | 'portal' | 'routeOptions'>, Defaults {
  portal: Portal[] | PortalFinder
  routeOptions: Record<RouteName, RouteShorthandOptions>
  /** Fastify's own. */
  logSerializers?: Record<string, (value: any) => unknown>
}

interface Rule {
  isValid: (value: any) => boolean
  /** Completes the sentence "option … must be …". */
  expected: string
}

const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
const isRouteOptions = (value: unknown): boolean => isObject(value) && !isPromise(value)

const rule = (isValid: Rule['isValid'], expected: string): Rule => ({ isValid, expected })
const optional = (isValid: Rule['isValid'], expected: string): Rule =>
  ({ isValid: (value) => value === undefined || isValid(value), expected })
const whole = (least: number, most: number, unit: string): Rule =>
  rule((value) => Number.isInteger(value) && value >= least && value <= most,
    `a whole number of ${unit} from ${least} to ${most}`)

const ROUTE_OPTIONS = 'an object of Fastify route options, or a function (route) => options'

const rules: Record<Exclude<keyof PartnerSsoOptions, 'prefix'>, Rule> = {
  portal: rule((value) => isObject(value) || Array.isArray(value) || isFunction(value),
    'an object, an array of them, or a function (clientId) => portal'),
  currentUser: rule(isFunction, 'a function (request, reply) => user or null'),
  portalEligibility: rule(isFunction, 'a function (user, context) => record or null'),
  loginPage: optional((value) => isFunction(value) || (isVisibleAscii(value) && !/[ \\]/.test(value)),
    'a URL in visible ASCII characters, or a function (returnTo, request) => URL'),
  redis: optional((value) => isRedisUrl(value) || isRedisClient(value) || isRedisOptions(value),
    'a redis:// or rediss:// URL, ioredis options, or a client of ioredis or iovalkey'),
  store: optional((value) => value === 'memory' || [value?.put, value?.take, value?.revoke].every(isFunction),
    '"memory", or an object with the methods put, take and revoke'),
  keyPrefix: rule((value) => typeof value === 'string', 'a string'),
  memoryLimit: whole(1, 2 ** 24, 'records'),
  storeTimeout: whole(1, 30_000, 'milliseconds'),
  codeLifetime: whole(1, 600, 'seconds'),
  tokenLifetime: whole(1, 3600, 'seconds'),
  onEvent: optional(isFunction, 'a function (event, request, cause) => void'),
  routeOptions: rule((value) => isRouteOptions(value) || isFunction(value), ROUTE_OPTIONS)
}

const NO_LOGIN_PAGE = 'partner-sso: no loginPage is given: unless currentUser sends a reply of its own, a browser ' +
  'that is not logged in is sent back to the portal with access_denied'

/** Checks the options and fills in the defaults. Throws a TypeError that names the option and what it must be. */
export function resolveOptions (given: PartnerSsoOptions, warn: Warn): ResolvedOptions {
  checkNames(Object.keys(given), warn)
  const options = { ...defaults, routeOptions: {}, ...present(given) }
  for (const [name, { isValid, expected }] of Object.entries(rules)) {
    const value: unknown = options[name as keyof typeof options]
    assertOption(isValid(value), name, expected, typeof value === 'number' ? String(value) : kindOf(value))
  }
  const { portal, redis, store, loginPage, routeOptions } = options
  assertOption(redis === undefined || store === undefined, 'store', 'absent where redis is given', 'both')
  if (loginPage === undefined) warn(NO_LOGIN_PAGE)
  return {
    ...options,
    portal: typeof portal === 'function' ? portal : checkPortals(portal),
    routeOptions: {
      authorize: optionsOf('authorize', routeOptions),
      token: optionsOf('token', routeOptions),
      user: optionsOf('user', routeOptions)
    }
  }
}

function optionsOf (
  route: RouteName, given: NonNullable<PartnerSsoOptions['routeOptions']>
): RouteShorthandOptions {
  const options = typeof given === 'function' ? given(route) ?? {} : given
  const name = `routeOptions('${route}')`
  assertOption(isRouteOptions(options), name, 'an object of Fastify route options', kindOf(options))
  return present(options)
}

/** The path before the routes, with that of the scopes around: a code of one tenant would be valid for all of them. */
export function checkPrefix (prefix: string): void {
  // In Fastify's router `::` is a colon in the path.
  const hasParameter = /[:*]/.test(prefix.replaceAll('::', ''))
  assertOption(!hasParameter, 'prefix', 'a path without parameters: register the plugin once for each tenant, or ' +
    'once with portal as a function', kindOf(prefix))
}

// `prefix` and the last two are Fastify's own.
const names = [...Object.keys(rules), 'prefix', 'logLevel', 'logSerializers']

const NO_LOGIN_URL = 'partner-sso: there is no option "loginUrl"; did you mean "loginPage", the login of your app, ' +
  'or "portal.loginUrl"?'

function checkNames (given: string[], warn: Warn): void {
  const unknown = given.filter((name) => !names.includes(name))
  if (unknown.includes('loginUrl')) throw new TypeError(NO_LOGIN_URL)
  for (const name of unknown) {
    const similar = similarName(name, names)
    if (similar === undefined) continue
    throw new TypeError(`partner-sso: there is no option "${name}"; did you mean "${similar}"?`)
  }
  if (unknown.length > 0) warn(`partner-sso: unknown options are ignored: ${unknown.join(', ')}`)
}

/** The options without those that are undefined. */
function present<T extends object> (options: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]: Exclude<T[Name], undefined> }
}

function checkPortals (given: Portal | Portal[]): Portal[] {
  if (!Array.isArray(given)) return [checkPortal(given, 'portal')]
  assertOption(given.length > 0, 'portal', 'one portal at least', kindOf(given))
  const portals = given.map((portal, index) => checkPortal(portal, `portal[${index}]`))
  const ids = portals.map(({ clientId }) => clientId)
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) !== index)
  assertOption(repeated === -1, 'portal', 'portals with different clientIds',
    `the same in portal[${ids.indexOf(ids[repeated] as string)}] and portal[${repeated}]`)
  return portals
}
