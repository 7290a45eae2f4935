import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { redirectTarget } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
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
  const sentence = sentenceIn(exchange)
  return REASONS.filter((reason) => refusals[reason].description === sentence)
}

function sentenceIn (exchange: Exchange) {
  const target = redirectTarget(exchange)
  if (target !== null) return target.searchParams.get('error_description')
  const { response } = exchange
  const shown = /For support: ([^<]{1,200}?)(?: Request ID:|<)/.exec(String(response?.body).slice(0, 8192))
  return jsonObject(response)?.error_description ?? shown?.[1]
}

/** Whether a response redirects with a code. */
export const hasCode = ({ response }: Exchange): boolean =>
  /[?&]code=/.test(header(response, 'location'))

/** The method and path of a request. */
export const nameOf = ({ request: { method, url } }: Exchange): string => `${method} ${new URL(url).pathname}`

/** The rule on what keeps the requests to an endpoint from the plugin. */
const hookAt = (exchange: Exchange) => `${/.*\/(authorize|token|user)/.exec(nameOf(exchange))?.[1]}.hook`

/** Whether a response has a token or a record. */
export const isGiven = ({ response }: Exchange): boolean =>
  /"(?:access_token|external_id)"/.test(String(response?.body))

/** The finding on a response that the plugin did not give. */
export function notThePlugin (exchange: Exchange): Failed {
  const from = new URL(exchange.request.url)
  const to = redirectTarget(exchange) ?? from
  const isMoved = from.pathname === to.pathname && from.origin !== to.origin
  const scheme = from.protocol === 'http:' ? 'address.https' : 'address.no-downgrade'
  return new Failed(`the plugin does not respond: ${nameOf(exchange)}: ${describe(exchange)}`, {
    rule: isMoved && from.protocol !== to.protocol ? scheme : hookAt(exchange),
    fix: isMoved
      ? 'Give the portal the address at which the app responds without a redirect, and that as base URL.'
      : whereToLook(exchange)
  })
}

/** Who responded in place of the plugin, and what to do. */
function whereToLook (exchange: Exchange) {
  if ([404, 405].includes(statusOf(exchange))) {
    return 'Register the plugin; check the base URL and the prefix; see whether a proxy changes the path or the method.'
  }
  // The plugin's routes send it with each response.
  const speaker = header(exchange.response, 'pragma')
    ? 'a hook of the app (onRequest, preHandler: login, CSRF, API keys, bot protection)'
    : 'a proxy, firewall or CDN in front of the app, with the app or without, or middleware or a hook of the app'
  return `Look for ${speaker}, and exempt this path: the portal’s server calls its endpoints without cookies.`
}

/** Why the plugin refuses a complete request: what to do, and for which reasons. */
const CHANGED: ReadonlyArray<[fix: string, ...reasons: RefusalReason[]]> = [
  [
    'The whole query was sent, each parameter once. Something on the way, in front of the app or in a hook, changes ' +
      'it: pass it on as it is.',
    'client_id_missing',
    'client_id_repeated',
    'redirect_uri_missing',
    'redirect_uri_repeated',
    'response_type_missing',
    'response_type_unsupported',
    'state_missing',
    'code_challenge_malformed',
    'parameter_repeated',
    'parameters_excessive'
  ],
  [
    'The whole form was sent, by POST. A body parser or middleware reads it first, most often an Express one ' +
      '(express.urlencoded, NestJS): exempt /oauth/token from it. Or a redirect changes the request.',
    'grant_type_missing',
    'grant_type_unsupported',
    'code_missing',
    'body_unreadable',
    'content_type_unsupported',
    'credentials_in_url',
    'method_not_allowed'
  ],
  [
    'The credentials were sent, once. A proxy or hook removes, replaces or adds the Authorization header (a password ' +
      'of a staging server does): let it reach /oauth/token and /oauth/user as the portal sent it.',
    'authentication_missing',
    'authentication_repeated',
    'credentials_missing',
    'authorization_malformed'
  ],
  [
    'Compare client_id, client_secret and redirect_uri with what the app has registered: exactly, with no space or ' +
      'line break.',
    'client_secret_wrong',
    'redirect_uri_mismatch'
  ],
  [
    'See `err` in the log line of the app: it cannot reach its store, the `portal` function threw, or a hook changed ' +
      'the request.',
    'internal_error',
    'portal_failed',
    'store_unavailable'
  ]
]

/** The finding on a complete request that the plugin refuses; null where the reason says nothing of its way. */
export function becameOf (exchange: Exchange, rule = hookAt(exchange)): Failed | null {
  const reasons = reasonsOf(exchange)
  const fix = CHANGED.find((row) => row.some((one) => reasons.includes(one as RefusalReason)))?.[0]
  return fix === undefined ? null : new Failed(describe(exchange), { rule, fix, exchange })
}
