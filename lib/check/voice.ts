import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { redirectTarget } from '../flow/browser.ts'
import { describe, fixFor } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, jsonObject, statusOf } from '../flow/wire.ts'
import type { RuleId } from './verdict.ts'
import { Fault } from './verdict.ts'

const REASONS = Object.keys(refusals) as RefusalReason[]

/** The header of everything that the plugin itself sends: its name and, in a refusal, the public error. */
const SIGNATURE = /^fastify-partner-sso(?:; error="(.*?)"; error_description="(.*?)")?$/

/** Whether a response says in its header that the plugin sent it. */
export const isSigned = ({ response }: Exchange): boolean => SIGNATURE.test(header(response, 'partner-sso'))

/**
 * Why the plugin refused a request: several reasons share one sentence. Empty where the response is
 * not a refusal of the plugin.
 */
export function reasonsOf (exchange: Exchange): readonly RefusalReason[] {
  const { response } = exchange
  if (header(response, 'www-authenticate') === 'Bearer realm="partner-sso"') return ['credentials_missing']
  const [, , sentence = sentenceOf(exchange)] = SIGNATURE.exec(header(response, 'partner-sso')) ?? []
  return REASONS.filter((reason) => refusals[reason].description === sentence)
}

/** The error_description in a redirect or a body: a proxy may have taken the header away. */
const sentenceOf = (exchange: Exchange) =>
  redirectTarget(exchange)?.searchParams.get('error_description') ?? jsonObject(exchange.response)?.error_description

/** Whether the plugin sent a response, be it a refusal or another one. */
export const isPlugin = (exchange: Exchange): boolean => isSigned(exchange) || reasonsOf(exchange).length > 0

/** A response in words. Of a page that the host made of a refusal: the plugin's own. */
export function inWords (exchange: Exchange): string {
  const [, error, description] = SIGNATURE.exec(header(exchange.response, 'partner-sso')) ?? []
  return error === undefined || redirectTarget(exchange) !== null
    ? describe(exchange)
    : `${statusOf(exchange)} with the error ${error} (${description})`
}

/** Whether a response redirects with a code. */
export const hasCode = ({ response }: Exchange) =>
  /[?&]code=/.test(header(response, 'location'))

/** Whether a response has a token or a record. */
export const isGiven = ({ response }: Exchange) =>
  /"(?:access_token|external_id)"/.test(String(response?.body))

/** The method and path of a request. */
export const nameOf = ({ request: { method, url } }: Exchange) => `${method} ${new URL(url).pathname}`

/** The endpoint that a request was for: a browser that was led elsewhere came from the first. */
function endpointOf (exchange: Exchange): 'authorize' | 'token' | 'user' {
  const [, endpoint = 'authorize'] = /.*\/oauth\/(token|user)$/.exec(nameOf(exchange)) ?? []
  return endpoint as 'authorize' | 'token' | 'user'
}

/** The rule on what keeps the requests to an endpoint from the plugin. */
const hookAt = (exchange: Exchange): RuleId => `${endpointOf(exchange)}.hook`

/** What to do where the browser is sent from https to http. */
export const DOWNGRADE =
  'Let the app know that TLS ends in front of it (Fastify: trustProxy; the proxy: X-Forwarded-Proto), or build ' +
  'redirects without scheme and host.'

export const REGISTER =
  'Register the plugin; check the base URL and the prefix; see whether a proxy changes the path or the method.'

const EXEMPT =
  'Look for a hook of the app (onRequest, preHandler: login, CSRF, API keys, bot protection), then for middleware ' +
  'and for a proxy, firewall or CDN in front of it. Exempt this path: the portal’s server calls its endpoints ' +
  'without cookies, and is not a browser. Where the app itself fails, see its log.'

/** The fault in a response that the plugin did not give. */
export function notThePlugin (exchange: Exchange, fix?: string): Fault {
  const got = `the plugin does not respond: ${nameOf(exchange)}: ${describe(exchange)}`
  const from = new URL(exchange.request.url)
  const to = redirectTarget(exchange)
  if (from.pathname === to?.pathname && from.origin !== to.origin) {
    const isDown = from.protocol === 'https:' && to.protocol === 'http:'
    return new Fault(got, { rule: 'address.https', fix: isDown ? DOWNGRADE : undefined })
  }
  const isNotFound = [404, 405].includes(statusOf(exchange))
  return new Fault(got, { rule: hookAt(exchange), fix: fix ?? (isNotFound ? REGISTER : EXEMPT) })
}

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
    'NestJS): exempt /oauth/token from it. Or a proxy adds an Authorization header of its own, or changes the ' +
    'request.',
  user:
    'The access token was sent, once. A proxy or hook removes, replaces or adds the Authorization header (a password ' +
    'of a staging server does), or changes the method: pass them on as they are.'
}

const PORTAL_FAILED =
  'See `err` in the log line of the app: the `portal` function threw or returned an invalid portal, or a hook ' +
  'changed the request of the plugin.'

/** The fault in the refusal of a complete request; null where the reason says nothing of its way. */
export function becameOf (exchange: Exchange, rule = hookAt(exchange)): Fault | null {
  const [reason] = reasonsOf(exchange)
  if (reason === undefined || UNCHANGED.includes(reason)) return null
  const got = inWords(exchange)
  const { error } = refusals[reason]
  if (reason === 'portal_failed') {
    const cause = endpointOf(exchange) === 'authorize' ? 'authorize.registered' : rule
    return new Fault(got, { rule: cause, fix: PORTAL_FAILED, exchange })
  }
  if (reason === 'state_missing') return new Fault(got, { rule: 'authorize.state', exchange })
  const isChanged = error === 'invalid_request' || reason === 'authentication_missing'
  return new Fault(got, { rule, fix: isChanged ? CHANGED[endpointOf(exchange)] : fixFor(error), exchange })
}
