import { type FastifyReply, type FastifyRequest, type RouteShorthandOptions } from 'fastify'
import { type RedisOptions } from 'ioredis'
import { type OnEvent } from './events.ts'
import { formDecode } from './http/parameters.ts'
import { type Portal, type PortalInformation } from './portal.ts'
import { type RedisClient } from './stores/redis-client.ts'
import { type Store } from './stores/store.ts'
import { type UserInformation } from './user-information.ts'

type Awaitable<T> = T | Promise<T>

/** What `portalEligibility` is told besides the user. */
export interface EligibilityContext {
  /** The portal that the user wants to enter. */
  portal: PortalInformation
  request: FastifyRequest
}

/**
 * Options of the plugin. `User` is the host's own type: what `currentUser` returns and `portalEligibility` is given.
 */
export interface PartnerSsoOptions<User = any> {
  /** One registration for each portal environment (test, live). */
  portal: Portal | Portal[]

  /**
   * The user who is logged in at the partner application; null or undefined when nobody is. Called at
   * `GET /oauth/authorize` only. It may send a reply of its own; the plugin does nothing more then. A throw is answered
   * with `server_error`.
   */
  currentUser: (request: FastifyRequest, reply: FastifyReply) => Awaitable<User | null | undefined>

  /**
   * The record that this user enters the portal with, in wire format (spec section 2.3), or null when the user may not
   * enter (`access_denied`). A throw, or a record that breaks a rule, is answered with `server_error` and logged.
   */
  portalEligibility: (user: User, context: EligibilityContext) => Awaitable<UserInformation | null | undefined>

  /**
   * Where a browser goes that is not logged in. A string gets `return_to` added: the relative URL to come back to. A
   * function makes the whole URL from it. Without a login page the portal is told `access_denied`.
   */
  loginPage?: string | ((returnTo: string, request: FastifyRequest) => string)

  /**
   * Redis 6.2 or later: a URL, ioredis options, or a client that the host already has. A client made by the plugin is
   * closed with the app; one passed in is neither reconfigured nor closed. Without `redis` and `store`, codes and tokens
   * live in this process, which serves one process only.
   */
  redis?: string | RedisOptions | RedisClient

  /** A store of the host's own, instead of `redis`. */
  store?: Store

  /**
   * Prefix of every Redis key, after the prefix that the client may have of its own.
   * @default 'partner-sso:'
   */
  keyPrefix?: string

  /**
   * The most records that the in-process store holds; past it, the oldest goes, whatever its lifetime.
   * @default 100000
   */
  memoryLimit?: number

  /**
   * Milliseconds that one store call may take before it counts as unavailable, 1 to 30000.
   * @default 1000
   */
  storeTimeout?: number

  /**
   * Seconds that an authorization code lives, 1 to 600 (RFC 6749 section 4.1.2: ten minutes at most).
   * @default 60
   */
  codeLifetime?: number

  /**
   * Seconds that an access token lives, 1 to 3600.
   * @default 60
   */
  tokenLifetime?: number

  /** Told of every outcome, beside the log. It never gets a secret, code, token, e-mail address or name. */
  onEvent?: OnEvent

  /** Fastify route options for all three routes: `config`, `constraints`, `handlerTimeout`, hooks and the like. */
  routeOptions?: Omit<RouteShorthandOptions, 'errorHandler' | 'exposeHeadRoute' | 'validatorCompiler' | 'serializerCompiler'>

  /** Fastify's own: put before the three routes. */
  prefix?: string
}

/** The options with every default filled in. */
export type Settings = Omit<PartnerSsoOptions, 'portal'> & typeof defaults & {
  portal: Portal[]
  routeOptions: RouteShorthandOptions
  prefix: string
  /** Fastify's own. */
  logSerializers?: Record<string, (value: any) => unknown>
}

const defaults = {
  keyPrefix: 'partner-sso:',
  memoryLimit: 100_000,
  storeTimeout: 1000,
  codeLifetime: 60,
  tokenLifetime: 60
}

/** Checks the options and fills in the defaults. Throws a TypeError that names the option and what it wants. */
export function settle (options: PartnerSsoOptions): Settings {
  checkNames(options)
  const settings = { ...defaults, routeOptions: {}, prefix: '', ...withoutUndefined(options), portal: [options.portal].flat() }
  settings.portal.forEach((portal, index) => checkPortal(portal, Array.isArray(options.portal) ? `portal[${index}]` : 'portal'))
  checkUnique(settings.portal)
  checkHooks(settings)
  checkStore(settings)
  checkWhole('memoryLimit', settings.memoryLimit, 1, 2 ** 24, 'records')
  checkWhole('storeTimeout', settings.storeTimeout, 1, 30_000, 'milliseconds')
  checkWhole('codeLifetime', settings.codeLifetime, 1, 600, 'seconds')
  checkWhole('tokenLifetime', settings.tokenLifetime, 1, 3600, 'seconds')
  return settings
}

const names = new Set([
  'portal', 'currentUser', 'portalEligibility', 'loginPage', 'redis', 'store', 'onEvent', 'routeOptions', ...Object.keys(defaults),
  'prefix', 'logLevel', 'logSerializers' // Fastify's own
])

function checkNames (options: object): void {
  for (const name of Object.keys(options)) {
    if (!names.has(name)) throw new TypeError(`partner-sso: there is no option "${name}"; there are ${[...names].join(', ')}`)
  }
}

function withoutUndefined<T extends object> (options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}

function checkPortal (portal: Portal, name: string): void {
  want(typeof portal === 'object' && portal !== null, name, 'an object, or an array of them', portal)
  checkLoginUrl(portal.loginUrl, `${name}.loginUrl`)
  want(isVisible(portal.clientId), `${name}.clientId`, 'a non-empty string of visible ASCII characters and spaces', portal.clientId)
  const secrets = [portal.clientSecret].flat()
  want(secrets.length > 0 && secrets.every(isVisible), `${name}.clientSecret`,
    'a non-empty string of visible ASCII characters and spaces, or an array of them', SECRET)
  checkRedirectUri(portal.redirectUri, `${name}.redirectUri`)
  want([undefined, 'partner', 'client'].includes(portal.level), `${name}.level`, '"partner" or "client"', portal.level)
}

// RFC 6749 appendix A.1 and A.2
function isVisible (value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)
}

function checkLoginUrl (value: string, name: string): void {
  const url = parseUrl(value)
  want(url !== null && /^https?:/.test(url.protocol), name, 'an absolute https or http URL', withoutPassword(value))
  want(!url.username && !url.password, name, 'a URL without user information', SECRET)
}

// RFC 6749 section 3.1.2; http for loopback only: RFC 9700 section 2.6
function checkRedirectUri (value: string, name: string): void {
  const url = parseUrl(value)
  want(url !== null && /^https?:\/\/[^\s"<>\\^`{|}]+$/.test(value) && isVisible(value), name, 'an absolute URL in visible ASCII characters', withoutPassword(value))
  want(!url.username && !url.password, name, 'a URL without user information', SECRET)
  want(url.protocol === 'https:' || isLoopback(url.hostname), name, 'https (http for loopback hosts only)', value)
  want(!value.includes('#'), name, 'a URL without fragment', value)
  want(!['code', 'state', 'error'].some((parameter) => url.searchParams.has(parameter)), name,
    'a URL without a code, state or error parameter', value)
}

function isLoopback (hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** The value, unless there can be a password in it. */
function withoutPassword (value: unknown): unknown {
  return String(value).includes('@') ? SECRET : value
}

function parseUrl (value: unknown): URL | null {
  try {
    return new URL(value as string)
  } catch {
    return null
  }
}

function checkUnique (portals: Portal[]): void {
  want(portals.length > 0, 'portal', 'one portal at least', portals)
  const ids = portals.map(({ clientId }) => clientId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  want(twice === undefined, 'portal', 'portals with different clientIds', twice)
}

function checkHooks ({ currentUser, portalEligibility, loginPage, onEvent, routeOptions }: Settings): void {
  want(typeof currentUser === 'function', 'currentUser', 'a function (request, reply) => user or null', currentUser)
  want(typeof portalEligibility === 'function', 'portalEligibility', 'a function (user, context) => record or null', portalEligibility)
  want(loginPage === undefined || typeof loginPage === 'function' || (isVisible(loginPage) && !/[ \\]/.test(loginPage)), 'loginPage',
    'a URL in visible ASCII characters, or a function (returnTo, request) => URL', loginPage)
  want(onEvent === undefined || typeof onEvent === 'function', 'onEvent', 'a function (event, request) => void', onEvent)
  want(typeof routeOptions === 'object' && routeOptions !== null, 'routeOptions', 'an object of Fastify route options', routeOptions)
}

function checkStore ({ redis, store, keyPrefix }: Settings): void {
  want(redis === undefined || store === undefined, 'store', 'absent where redis is given', 'both')
  want(store === undefined || (['put', 'take', 'revoke'] as const).every((name) => typeof store?.[name] === 'function'), 'store',
    'an object with the methods put, take and revoke', store)
  want(redis === undefined || (typeof redis === 'object' && redis !== null) || isRedisUrl(redis), 'redis',
    'a redis:// or rediss:// URL, ioredis options, or an ioredis client', SECRET)
  want(typeof keyPrefix === 'string', 'keyPrefix', 'a string', keyPrefix)
}

/** Whether ioredis can read it: its own error would hold the URL, and the password with it. */
function isRedisUrl (value: unknown): boolean {
  const url = parseUrl(value)
  return url !== null && /^rediss?:/.test(url.protocol) && [url.username, url.password].every((part) => formDecode(part) !== null)
}

function checkWhole (name: string, value: unknown, least: number, most: number, unit: string): void {
  want(Number.isInteger(value) && Number(value) >= least && Number(value) <= most, name, `a whole number of ${unit} from ${least} to ${most}`, value)
}

// Stands for a value that must not be told: a secret, or a URL with a password in it.
const SECRET = Symbol('secret')

function want (holds: boolean, name: string, wanted: string, got: unknown): asserts holds {
  if (!holds) throw new TypeError(`partner-sso: option "${name}" must be ${wanted}${got === SECRET ? '' : `; got ${show(got)}`}`)
}

function show (value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
}
