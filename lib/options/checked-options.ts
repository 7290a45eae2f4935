import type { RouteShorthandOptions } from 'fastify'
import { assertOption, isVisibleAscii, kindOf } from '../assert.ts'
import type { RouteName } from '../http/endpoint.ts'
import { OptionUnknown } from '../start-errors.ts'
import { similarName } from './misspellings.ts'
import type { PartnerSsoOptions } from './options.ts'
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
  /** Fastify's own option. */
  logSerializers?: Record<string, (value: any) => unknown>
}

/** What the value of an option must be. */
interface Rule {
  isValid: (value: any) => boolean
  /** Completes the sentence "option … must be …". */
  expected: string
}

const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const optional = (isValid: Rule['isValid'], expected: string): Rule =>
  ({ isValid: (value) => value === undefined || isValid(value), expected })

/** A whole number in a range, which has both ends. */
const whole = (least: number, most: number, unit: string): Rule => ({
  isValid: (value) => Number.isInteger(value) && value >= least && value <= most,
  expected: `a whole number of ${unit} from ${least} to ${most}`
})

/** One rule for each option. `prefix` is Fastify's own, and is checked by `checkPrefix`. */
const rules: Record<Exclude<keyof PartnerSsoOptions, 'prefix'>, Rule> = {
  portal: {
    isValid: (value) => isObject(value) || Array.isArray(value) || isFunction(value),
    expected: 'an object, an array of them, or a function (clientId) => portal'
  },
  currentUser: { isValid: isFunction, expected: 'a function (request, reply) => user or null' },
  portalEligibility: { isValid: isFunction, expected: 'a function (user, context) => record or null' },
  loginPage: optional(isLoginPage, 'a URL in visible ASCII characters, or a function (returnTo, request) => URL'),
  errorPage: optional(isFunction, 'a function (refusal, request, reply) => HTML or reply'),
  redis: optional(isRedisOption, REDIS_EXPECTED),
  store: optional(isStore, '"memory", or an object with the methods put, take and revoke'),
  keyPrefix: { isValid: (value) => typeof value === 'string', expected: 'a string' },
  memoryLimit: whole(1, 2 ** 24, 'records'),
  storeTimeout: whole(1, 30_000, 'milliseconds'),
  codeLifetime: whole(1, 600, 'seconds'),
  tokenLifetime: whole(1, 3600, 'seconds'),
  onEvent: optional(isFunction, 'a function (event, request, cause) => void'),
  routeOptions: {
    isValid: (value) => isObject(value) || isFunction(value),
    expected: 'an object of Fastify route options, or a function (route) => options'
  }
}

/** A URL has no space, and browsers read a backslash in it as a slash: `/\login.example` would lead to another host. */
function isLoginPage (value: unknown): boolean {
  return isFunction(value) || (isVisibleAscii(value) && !/[ \\]/.test(value))
}

function isStore (value: any): boolean {
  return value === 'memory' || [value?.put, value?.take, value?.revoke].every(isFunction)
}

const NO_LOGIN_PAGE = 'partner-sso: no loginPage is given: unless currentUser sends a reply of its own, a browser ' +
  'that is not logged in is sent back to the portal with access_denied'

const NO_PORTAL = 'partner-sso: portal is an empty array: every client is unknown, and no sign-in succeeds'

/**
 * Checks the options and fills in the defaults.
 *
 * @param given - the options of the host
 * @param warn - gets a sentence for each option that may be a mistake
 * @throws `OptionInvalid` or {@link OptionUnknown}
 */
export function resolveOptions (given: PartnerSsoOptions, warn: Warn): ResolvedOptions {
  checkNames(Object.keys(given), warn)
  const redis = given.redis === '' ? undefined : given.redis
  const options = { ...defaults, routeOptions: {}, ...present({ ...given, redis }) }
  const values: Partial<Record<string, unknown>> = { ...options }
  for (const [name, { isValid, expected }] of Object.entries(rules)) {
    const value = values[name]
    // A number cannot be a secret, so it is shown.
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

/** The options of one route. Where `routeOptions` is a function, it may return none. */
function optionsOf (
  route: RouteName, given: NonNullable<PartnerSsoOptions['routeOptions']>
): RouteShorthandOptions {
  const options = typeof given === 'function' ? given(route) ?? {} : given
  const name = `routeOptions('${route}')`
  assertOption(isObject(options), name, 'an object of Fastify route options', kindOf(options))
  // Fastify would ignore these names, and with them a limit or a hook that somebody relies on.
  const ignored = ['then', 'authorize', 'token', 'user'].find((key) => key in options)
  assertOption(ignored === undefined, name, 'Fastify route options, the same for each route unless routeOptions is a ' +
    'function (route) => options', ignored === 'then' ? 'a promise' : `an object with "${ignored}"`)
  return present(options)
}

/**
 * Checks the path before the routes.
 *
 * @param prefix - of the plugin's scope: it includes the prefixes of the scopes around it
 * @throws `OptionInvalid`
 */
export function checkPrefix (prefix: string): void {
  // Browsers read a host after two slashes.
  assertOption(!prefix.startsWith('//'), 'prefix', 'a path that begins with one slash', kindOf(prefix))
  // In Fastify's router `::` is a colon in the path.
  const hasParameter = /[:*]/.test(prefix.replaceAll('::', ''))
  // With a parameter for the tenant, a code of one tenant would be valid for all of them.
  assertOption(!hasParameter, 'prefix', 'a path without parameters: register the plugin once for each tenant, or ' +
    'once with portal as a function', kindOf(prefix))
}

/** The names of all options. `prefix` and the two last are Fastify's own. */
const names = [...Object.keys(rules), 'prefix', 'logLevel', 'logSerializers']

/** Refuses a name that looks like a misspelt one. Warns of the other unknown names. */
function checkNames (given: string[], warn: Warn): void {
  const unknown = given.filter((name) => !names.includes(name))
  for (const name of unknown) {
    const similar = similarName(name, names)
    if (similar !== undefined) throw new OptionUnknown(name, similar)
  }
  if (unknown.length > 0) warn(`partner-sso: unknown options are ignored: ${unknown.join(', ')}`)
}

type Present<T> = { [Name in keyof T]: Exclude<T[Name], undefined> }

/** Returns the options without those that are undefined. */
function present<T extends object> (options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>
}

/** Checks the portals. Two of them cannot have the same `clientId`. */
function checkPortals (given: Portal | Portal[]): Portal[] {
  if (!Array.isArray(given)) return [checkPortal(given, 'portal')]
  const portals = given.map((portal, index) => checkPortal(portal, `portal[${index}]`))
  const ids = new Set(portals.map(({ clientId }) => clientId))
  assertOption(ids.size === portals.length, 'portal', 'portals with different clientIds', 'the same one twice')
  return portals
}
