import { type FastifyReply, type FastifyRequest, type RouteShorthandOptions } from 'fastify'
import { type RedisOptions } from 'ioredis'
import { assertOption, isVisibleAscii, kindOf, valueOf } from './assert-option.ts'
import { type OnEvent } from './events.ts'
import { type PortalFinder, type PortalInformation } from './portal.ts'
import { checkPortal, type Portal } from './portal-option.ts'
import { type Warn } from './startup-warnings.ts'
import { isRedisClient, isRedisOptions, isRedisUrl, type RedisClient } from './stores/redis-client.ts'
import { type Store } from './stores/store.ts'
import { similarName } from './unknown-options.ts'
import { type UserInformation } from './user-information.ts'

type Awaitable<T> = T | Promise<T>

/** What `portalEligibility` is told besides the user. */
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
   * bad portal is answered with `server_error`, a timeout with `temporarily_unavailable`; the log has the reason.
   */
  portal: Portal | Portal[] | PortalFinder

  /**
   * Returns the user who is logged in at your application, or null or undefined when nobody is. Called at
   * `GET /oauth/authorize` only, after the parameters were checked. It may send a reply of its own; the plugin then
   * does nothing more. A throw is answered with `server_error`.
   */
  currentUser: (request: FastifyRequest, reply: FastifyReply) => Awaitable<User | null | undefined>

  /**
   * Returns the record that this user enters the portal with, in wire format (spec section 2.3), or null or undefined
   * to deny (`access_denied`). A throw, or a record that breaks a rule, is answered with `server_error` and logged.
   */
  portalEligibility: (user: User, context: EligibilityContext) => Awaitable<UserInformation | null | undefined>

  /**
   * Where a browser is sent when nobody is logged in. A string gets `?return_to=` added, with the relative URL to come
   * back to; the login page must accept relative URLs only. A function gets that URL and returns the whole address. A
   * throw in it is answered with `server_error`.
   *
   * Without it the portal is told `access_denied`, and a warning at start says so.
   */
  loginPage?: string | ((returnTo: string, request: FastifyRequest) => string) | undefined

  /**
   * Redis 6.2 or later: a `redis://` or `rediss://` URL, ioredis options, or a client of ioredis or iovalkey that you
   * already have. A client made by the plugin is closed with the app; yours is neither reconfigured nor closed. Not
   * together with `store`.
   *
   * Without `redis` and `store`, codes and tokens are kept in this process, so only one process can serve the portal.
   * A warning at start says so.
   */
  redis?: string | RedisOptions | RedisClient | undefined

  /** A store of your own, instead of `redis`. Test it with `checkStore` of `fastify-partner-sso/testing`. */
  store?: Store | undefined

  /**
   * Prefix of every Redis key, after the `keyPrefix` of the client itself. Used with `redis` only.
   * @default 'partner-sso:'
   */
  keyPrefix?: string | undefined

  /**
   * The most records that the in-process store keeps, 1 to 16777216; past it, the oldest is removed. Used without
   * `redis` and `store` only.
   * @default 100000
   */
  memoryLimit?: number | undefined

  /**
   * Milliseconds that a request waits for the store, all its store calls together, 1 to 30000. After that the answer is
   * `temporarily_unavailable`. A `portal` function may take as long again.
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
   * Called with every outcome, beside the log. An event has no secret, code, token, e-mail address or name. A throw is
   * logged and changes nothing.
   */
  onEvent?: OnEvent | undefined

  /**
   * Fastify route options for all three routes: `config`, `constraints`, `handlerTimeout`, hooks and the like. What the
   * protocol needs (handlers, security headers, no HEAD routes) cannot be changed by them.
   */
  routeOptions?: RouteOptions | undefined

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
  routeOptions: RouteShorthandOptions
  /** Fastify's own. */
  logSerializers?: Record<string, (value: any) => unknown>
}

const names = [
  'portal', 'currentUser', 'portalEligibility', 'loginPage', 'redis', 'store', ...Object.keys(defaults), 'onEvent',
  'routeOptions',
  'prefix', 'logLevel', 'logSerializers' // Fastify's own
]

/** Checks the options and fills in the defaults. Throws a TypeError that names the option and what it must be. */
export function resolveOptions (given: PartnerSsoOptions, warn: Warn): ResolvedOptions {
  checkNames(Object.keys(given), warn)
  const portal = checkPortals(given.portal)
  const options: ResolvedOptions = { ...defaults, routeOptions: {}, ...present(given), portal }
  checkHooks(options)
  checkStore(options)
  checkWhole('memoryLimit', options.memoryLimit, 1, 2 ** 24, 'records')
  checkWhole('storeTimeout', options.storeTimeout, 1, 30_000, 'milliseconds')
  checkWhole('codeLifetime', options.codeLifetime, 1, 600, 'seconds')
  checkWhole('tokenLifetime', options.tokenLifetime, 1, 3600, 'seconds')
  if (options.loginPage === undefined) warn(NO_LOGIN_PAGE)
  return options
}

const NO_LOGIN_PAGE = 'partner-sso: no loginPage is given: unless currentUser sends a reply of its own, a browser ' +
  'that is not logged in is sent back to the portal with access_denied'

/** The path before the routes, with that of the scopes around: a code of one tenant would be good for all of them. */
export function checkPrefix (prefix: string): void {
  // In Fastify's router `::` stands for a colon in the path.
  const hasParameter = /[:*]/.test(prefix.replaceAll('::', ''))
  assertOption(!hasParameter, 'prefix', 'a path without parameters: register the plugin once for each tenant, or ' +
    'once with portal as a function', valueOf(prefix))
}

function checkNames (given: string[], warn: Warn): void {
  const unknown = given.filter((name) => !names.includes(name))
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

function checkPortals (given: PartnerSsoOptions['portal']): Portal[] | PortalFinder {
  if (typeof given === 'function') return given
  assertOption(typeof given === 'object' && given !== null, 'portal',
    'an object, an array of them, or a function (clientId) => portal', kindOf(given))
  if (!Array.isArray(given)) return [checkPortal(given, 'portal')]
  assertOption(given.length > 0, 'portal', 'one portal at least', 'an empty array')
  const portals = given.map((portal, index) => checkPortal(portal, `portal[${index}]`))
  const ids = portals.map(({ clientId }) => clientId)
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index)
  assertOption(repeated === undefined, 'portal', 'portals with different clientIds', `${valueOf(repeated)} twice`)
  return portals
}

function checkHooks ({ currentUser, portalEligibility, loginPage, onEvent, routeOptions }: ResolvedOptions): void {
  assertFunction(currentUser, 'currentUser', '(request, reply) => user or null')
  assertFunction(portalEligibility, 'portalEligibility', '(user, context) => record or null')
  if (onEvent !== undefined) assertFunction(onEvent, 'onEvent', '(event, request) => void')
  const isUrl = isVisibleAscii(loginPage) && !/[ \\]/.test(loginPage)
  assertOption(loginPage === undefined || typeof loginPage === 'function' || isUrl, 'loginPage',
    'a URL in visible ASCII characters, or a function (returnTo, request) => URL', valueOf(loginPage))
  const isObject = typeof routeOptions === 'object' && routeOptions !== null && !Array.isArray(routeOptions)
  assertOption(isObject, 'routeOptions', 'an object of Fastify route options', kindOf(routeOptions))
}

function assertFunction (given: unknown, name: string, signature: string): void {
  assertOption(typeof given === 'function', name, `a function ${signature}`, kindOf(given))
}

function checkStore ({ redis, store, keyPrefix }: ResolvedOptions): void {
  assertOption(redis === undefined || store === undefined, 'store', 'absent where redis is given', 'both')
  const isStore = (['put', 'take', 'revoke'] as const).every((name) => typeof store?.[name] === 'function')
  assertOption(store === undefined || isStore, 'store', 'an object with the methods put, take and revoke',
    kindOf(store))
  const isRedis = typeof redis === 'string' ? isRedisUrl(redis) : isRedisClient(redis) || isRedisOptions(redis)
  assertOption(redis === undefined || isRedis, 'redis',
    'a redis:// or rediss:// URL, ioredis options, or a client of ioredis or iovalkey', kindOf(redis))
  assertOption(typeof keyPrefix === 'string', 'keyPrefix', 'a string', kindOf(keyPrefix))
}

function checkWhole (name: string, value: unknown, least: number, most: number, unit: string): void {
  assertOption(Number.isInteger(value) && Number(value) >= least && Number(value) <= most, name,
    `a whole number of ${unit} from ${least} to ${most}`, valueOf(value))
}
