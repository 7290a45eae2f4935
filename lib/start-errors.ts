import { createError } from '@fastify/error'

/**
 * The errors that `register()` and `ready()` of the host's app reject with, one row for each kind. They are made as
 * Fastify makes its own: each has a stable `code` that a program can compare, beside a sentence for people, and the
 * `statusCode` 500. No sentence contains a secret.
 */

/** An option has a value that it must not have: name of the option, what it must be, what it is. */
export const OptionInvalid = createError<[name: string, expected: string, given: string]>(
  'FST_PARTNER_SSO_OPTION_INVALID', 'partner-sso: option "%s" must be %s; got %s', 500, TypeError)

/** There is no such option, and its name looks like a misspelt one: the given name, the similar one. */
export const OptionUnknown = createError<[name: string, similar: string]>(
  'FST_PARTNER_SSO_OPTION_UNKNOWN', 'partner-sso: there is no option "%s"; did you mean "%s"?', 500, TypeError)

/** The app already has a route of the plugin: its method and its path. */
export const RouteExists = createError<[method: string, path: string]>(
  'FST_PARTNER_SSO_ROUTE_EXISTS',
  'partner-sso: the route %s %s already exists. Where the plugin is registered more than once, or the app has such a ' +
  'route of its own, give each registration a "prefix" of its own')

/** The store can never serve a sign-in: why, and what the store itself said. */
export const StoreUnfit = createError<[reason: string, cause: string]>(
  'FST_PARTNER_SSO_STORE_UNFIT', 'partner-sso: %s: %s')
