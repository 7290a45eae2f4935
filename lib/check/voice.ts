import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { redirectTarget } from '../flow/browser.ts'
import { describe, fixFor } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, jsonObject, statusOf } from '../flow/wire.ts'
import { Failed } from './rule.ts'

const REASONS = Object.keys(refusals) as RefusalReason[]

/**
 * Why the plugin refused a request: several reasons share one sentence. Empty where the response is
 * not a refusal of the plugin.
 */
export function reasonsOf (exchange: Exchange): readonly RefusalReason[] {
  if (header(exchange.response, 'www-authenticate') === 'Bearer realm="partner-sso"') return ['credentials_missing']
  const sentence =
    redirectTarget(exchange)?.searchParams.get('error_description') ??
    jsonObject(exchange.response)?.error_description ??
    /For support: ([^<]{1,200}?)(?: Request ID:|<)/.exec(String(exchange.response?.body))?.[1]
  return REASONS.filter((reason) => refusals[reason].description === sentence)
}

/** Whether a response redirects with a code. */
export const hasCode = ({ response }: Exchange) =>
  /[?&]code=/.test(header(response, 'location'))

/** The method and path of a request. */
export const nameOf = ({ request: { method, url } }: Exchange) => `${method} ${new URL(url).pathname}`

const endpointOf = (exchange: Exchange) =>
  /.*\/(authorize|token|user)/.exec(nameOf(exchange))?.[1] as 'authorize' | 'token' | 'user'

/** The rule on what keeps the requests to an endpoint from the plugin. */
const hookAt = (exchange: Exchange) => `${endpointOf(exchange)}.hook`

/** Whether a response has a token or a record. */
export const isGiven = ({ response }: Exchange) =>
  /"(?:access_token|external_id)"/.test(String(response?.body))

/** The finding on a response that the plugin did not give. */
export function notThePlugin (exchange: Exchange) {
  const got = `the plugin does not respond: ${nameOf(exchange)}: ${describe(exchange)}`
  const from = new URL(exchange.request.url)
  const to = redirectTarget(exchange)
  if (from.pathname === to?.pathname) {
    const isDown = from.protocol === 'https:' && to.protocol === 'http:'
    return new Failed(got, { rule: 'address.https', fix: isDown ? DOWNGRADE : undefined })
  }
  const isNotFound = [404, 405].includes(statusOf(exchange))
  return new Failed(got, { rule: hookAt(exchange), fix: isNotFound ? REGISTER : EXEMPT })
}

/** What to do where the browser is sent from https to http. */
export const DOWNGRADE =
  'Let the app know that TLS ends in front of it (Fastify: trustProxy; the proxy: X-Forwarded-Proto), or build ' +
  'redirects without scheme and host.'

const REGISTER =
  'Register the plugin; check the base URL and the prefix; see whether a proxy changes the path or the method.'

const EXEMPT =
  'Look for a hook of the app (onRequest, preHandler: login, CSRF, API keys, bot protection), then for middleware ' +
  'and for a proxy, firewall or CDN in front of it. Exempt this path: the portal’s server calls its endpoints ' +
  'without cookies. Where the app itself fails, see its log.'

/** Refusals of a request that arrived as it was sent; the first reason of a sentence. */
const UNCHANGED: RefusalReason[] = [
  'client_id_unknown',
  'redirect_uri_unregistered',
  'not_logged_in',
  'not_eligible',
  'current_user_failed',
  'code_malformed',
  'token_unknown'
]

/** What to do where a complete request is refused. */
const CHANGED = {
  authorize:
    'The whole query was sent, each parameter once. Something on the way, in front of the app or in a hook, changes ' +
    'it: pass it on as it is.',
  token:
    'The whole form was sent, by POST, with the credentials. A body parser reads it first (express.urlencoded, ' +
    'NestJS): exempt /oauth/token from it. Or a proxy adds an Authorization header of its own, or changes the request.',
  user:
    'The access token was sent, once. A proxy or hook removes, replaces or adds the Authorization header (a password ' +
    'of a staging server does), or changes the method: pass them on as they are.'
}

/** The finding on a complete request that the plugin refuses; null where the reason says nothing of its way. */
export function becameOf (exchange: Exchange, rule = hookAt(exchange)): Failed | null {
  const [reason] = reasonsOf(exchange)
  if (reason === undefined || UNCHANGED.includes(reason)) return null
  const { error } = refusals[reason]
  const isChanged = error === 'invalid_request' || reason === 'authentication_missing'
  const fix = isChanged ? CHANGED[endpointOf(exchange)] : fixFor(error)
  return new Failed(describe(exchange), { rule, fix, exchange })
}
