import type { RouteShorthandOptions } from 'fastify'
import { assertOption, isVisibleAscii, kindOf } from '../assert.ts'
import type { RouteName } from '../http/endpoint.ts'
import { similarName } from './misspellings.ts'
import type { PartnerSsoOptions } from './options.ts'
import { OptionUnknown } from '../start-errors.ts'
import { checkPortal } from '../portal/portal.ts'
import type { Portal } from '../portal/portal.ts'
import type { PortalFinder } from '../portal/portals.ts'
import type { Warn } from './startup-warnings.ts'
import { isRedisOption, REDIS_EXPECTED } from '../stores/redis-client.ts'

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

/** What a value must be. `expected` completes the sentence "option … must be …". */
type Rule = [isValid: (value: any) => boolean, expected: string]

const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const optional = (...[isValid, expected]: Rule): Rule => [(value) => value === undefined || isValid(value), expected]
const whole = (least: number, most: number, unit: string): Rule => [
  (value) => Number.isInteger(value) && value >= least && value <= most,
  `a whole number of ${unit} from ${least} to ${most}`
]

const ROUTE_OPTIONS = 'an object of Fastify route options, or a function (route) => options'

const rules: Record<Exclude<keyof PartnerSsoOptions, 'prefix'>, Rule> = {
  portal: [
    (value) => isObject(value) || Array.isArray(value) || isFunction(value),
    'an object, an array of them, or a function (clientId) => portal'
  ],
  currentUser: [isFunction, 'a function (request, reply) => user or null'],
  portalEligibility: [isFunction, 'a function (user, context) => record or null'],
  loginPage: optional((value) => isFunction(value) || (isVisibleAscii(value) && !/[ \\]/.test(value)),
    'a URL in visible ASCII characters, or a function (returnTo, request) => URL'),
  errorPage: optional(isFunction, 'a function (refusal, request, reply) => HTML or reply'),
  redis: optional(isRedisOption, REDIS_EXPECTED),
  store: optional((value) => value === 'memory' || [value?.put, value?.take, value?.revoke].every(isFunction),
    '"memory", or an object with the methods put, take and revoke'),
  keyPrefix: [(value) => typeof value === 'string', 'a string'],
  memoryLimit: whole(1, 2 ** 24, 'records'),
  storeTimeout: whole(1, 30_000, 'milliseconds'),
  codeLifetime: whole(1, 600, 'seconds'),
  tokenLifetime: whole(1, 3600, 'seconds'),
  onEvent: optional(isFunction, 'a function (event, request, cause) => void'),
  routeOptions: [(value) => isObject(value) || isFunction(value), ROUTE_OPTIONS]
}

const NO_LOGIN_PAGE = 'partner-sso: no loginPage is given: unless currentUser sends a reply of its own, a browser ' +
  'that is not logged in is sent back to the portal with access_denied'

const NO_PORTAL = 'partner-sso: portal is an empty array: every client is unknown, and no sign-in succeeds'

/** Checks the options and fills in the defaults. Throws a TypeError that names the option and what it must be. */
export function resolveOptions (given: PartnerSsoOptions, warn: Warn): ResolvedOptions {
  checkNames(Object.keys(given), warn)
  const redis = given.redis === '' ? undefined : given.redis
  const options = { ...defaults, routeOptions: {}, ...present({ ...given, redis }) }
  for (const [name, [isValid, expected]] of Object.entries(rules)) {
    const value: unknown = options[name as keyof typeof options]
    assertOption(isValid(value), name, expected, typeof value === 'number' ? String(value) : kindOf(value))
  }
  const { portal, store, loginPage, routeOptions } = options
  assertOption(redis === undefined || store === undefined, 'store', 'absent where redis is given', 'both')
  if (loginPage === undefined) warn(NO_LOGIN_PAGE)
  if (Array.isArray(portal) && portal.length === 0) warn(NO_PORTAL)
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
  assertOption(isObject(options), name, 'an object of Fastify route options', kindOf(options))
  // Fastify would ignore these, and with them a limit or a hook that somebody relies on.
  const meant = ['then', 'authorize', 'token', 'user'].find((key) => key in options)
  assertOption(meant === undefined, name, 'Fastify route options, the same for each route unless routeOptions is a ' +
    'function (route) => options', meant === 'then' ? 'a promise' : `an object with "${meant}"`)
  return present(options)
}

/** Checks the path before the routes, with that of the scopes around. */
export function checkPrefix (prefix: string): void {
  // A browser takes what follows for a host.
  assertOption(!prefix.startsWith('//'), 'prefix', 'a path that begins with one slash', kindOf(prefix))
  // In Fastify's router `::` is a colon in the path.
  const hasParameter = /[:*]/.test(prefix.replaceAll('::', ''))
  // A code of one tenant would be valid for all of them.
  assertOption(!hasParameter, 'prefix', 'a path without parameters: register the plugin once for each tenant, or ' +
    'once with portal as a function', kindOf(prefix))
}

// `prefix` and the last two are Fastify's own.
const names = [...Object.keys(rules), 'prefix', 'logLevel', 'logSerializers']

function checkNames (given: string[], warn: Warn): void {
  const unknown = given.filter((name) => !names.includes(name))
  for (const name of unknown) {
    const similar = similarName(name, names)
    if (similar !== undefined) throw new OptionUnknown(name, similar)
  }
  if (unknown.length > 0) warn(`partner-sso: unknown options are ignored: ${unknown.join(', ')}`)
}

type Present<T> = { [Name in keyof T]: Exclude<T[Name], undefined> }

/** The options without those that are undefined. */
function present<T extends object> (options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>
}

function checkPortals (given: Portal | Portal[]): Portal[] {
  if (!Array.isArray(given)) return [checkPortal(given, 'portal')]
  const portals = given.map((portal, index) => checkPortal(portal, `portal[${index}]`))
  const ids = new Set(portals.map(({ clientId }) => clientId))
  assertOption(ids.size === portals.length, 'portal', 'portals with different clientIds', 'the same one twice')
  return portals
}
