import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { redirectTarget } from '../flow/browser.ts'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header, jsonObject, statusOf } from '../flow/wire.ts'
import { Failed } from './rule.ts'

export type Endpoint = 'authorize' | 'token' | 'user'

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

function sentenceIn (exchange: Exchange): unknown {
  const target = redirectTarget(exchange)
  if (target !== null) return target.searchParams.get('error_description')
  const { response } = exchange
  const shown = /For support: ([^<]{1,200}?)(?: Request ID:|<)/.exec(String(response?.body).slice(0, 8192))
  return jsonObject(response)?.error_description ?? shown?.[1]
}

/** Whether a response redirects with a code. */
export const hasCode = ({ response }: Pick<Exchange, 'response'>): boolean =>
  /[?&]code=/.test(header(response, 'location'))

/** The method and path of a request. */
export const nameOf = ({ request: { method, url } }: Exchange): string => `${method} ${new URL(url).pathname}`

/** What somebody other than the plugin said. */
export function quoted (exchange: Exchange): string {
  const server = header(exchange.response, 'server')
  return `${describe(exchange)}${server === '' ? '' : ` [server: ${server.slice(0, 60)}]`}`
}

/** The finding on a response that the plugin did not give. */
export function notThePlugin (exchange: Exchange, endpoint: Endpoint): Failed {
  const { pathname, hostname, protocol } = new URL(exchange.request.url)
  const moved = sameElsewhere(exchange)
  const isOtherScheme = endpoint === 'authorize' && moved?.hostname === hostname && moved.protocol !== protocol
  const scheme = protocol === 'http:' ? 'address.https' : 'address.no-downgrade'
  const [words, fix] = whoSpoke(exchange, pathname, moved !== null)
  return new Failed(`${words}: ${nameOf(exchange)}: ${quoted(exchange)}`, {
    rule: isOtherScheme ? scheme : `${endpoint}.hook`,
    fix
  })
}

/** Where a redirect leads to the same path at another scheme or host; null elsewhere. */
function sameElsewhere (exchange: Exchange): URL | null {
  const from = new URL(exchange.request.url)
  const to = redirectTarget(exchange) ?? from
  return from.pathname === to.pathname && from.origin !== to.origin ? to : null
}

/** Who responded in place of the plugin, and where to look. */
function whoSpoke (exchange: Exchange, path: string, isMoved: boolean): [words: string, fix: string] {
  const status = statusOf(exchange)
  const { response } = exchange
  const absent = /Route [A-Z]+:(\S+?)(?:\?\S*)? not found/.exec(String(response?.body))?.[1]
  // The plugin's headers are on each response of its routes.
  const isOnRoute = /no-store/i.test(header(response, 'cache-control')) && header(response, 'pragma') !== ''
  const exempt = `Exempt ${path} from it: the portal’s server calls its endpoints without cookies.`
  const causes: Array<[isIt: boolean, words: string, fix: string]> = [
    [
      absent === path,
      'the app has no such route',
      'Register the plugin; check the base URL and the prefix.'
    ],
    [
      absent !== undefined,
      `${path} arrives as ${absent}`,
      'Something in front changes the path: pass it on as it is, or give the plugin the prefix that the app sees.'
    ],
    [
      isMoved,
      'it is redirected to another scheme or host',
      'Give the portal the address at which the app responds without a redirect, and that as base URL.'
    ],
    [
      isOnRoute,
      'a hook of the app responds before the plugin',
      `Look for a hook of the app (onRequest, preHandler: login, CSRF, API keys, bot protection). ${exempt}`
    ],
    [
      [502, 503, 504].includes(status),
      'a proxy responds, and no app behind it',
      'Start the app, and see whether the proxy leads to its port.'
    ],
    [
      status === 404 || status === 405,
      'nothing is at this path for this method',
      'Check the base URL and the prefix; a proxy in front must pass the request on, with its path and method.'
    ]
  ]
  const [, words, fix] = causes.find(([isIt]) => isIt) ?? [
    true,
    'something in front of the plugin responds',
    `It is a proxy, firewall or CDN in front of the app, or middleware or a hook of the app. ${exempt}`
  ]
  return [words, fix]
}

/** Why the plugin refuses a complete request: what to do, and for which reasons. */
const CHANGED: ReadonlyArray<[fix: string, ...reasons: RefusalReason[]]> = [
  [
    'The whole query was sent, each parameter once. Something on the way, in front of the app or in a hook, drops or ' +
      'adds a parameter, or reads the query and writes it again: pass it on as it is.',
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
    'The whole form was sent. A body parser of the app, or middleware in front, reads it first, most often an ' +
      'Express one (express.urlencoded, NestJS): exempt /oauth/token from it.',
    'grant_type_missing',
    'grant_type_unsupported',
    'code_missing',
    'body_unreadable',
    'content_type_unsupported'
  ],
  [
    'The form was sent by POST. Something on the way changes the request, most often a redirect: give the portal the ' +
      'address that needs none.',
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
    'Compare the client_id and the client_secret with what the app has registered: the secret exactly, with no space ' +
      'or line break.',
    'client_secret_wrong'
  ],
  ['Register exactly the redirect_uri of the portal.', 'redirect_uri_mismatch'],
  [
    'See `err` in the log line of the app: the `portal` function threw, or a hook changed the request.',
    'internal_error',
    'portal_failed'
  ],
  [
    'See why the app cannot reach its store, or the `portal` function what it needs.',
    'store_unavailable'
  ]
]

/** The finding on a complete request that the plugin refuses; null where the reason says nothing of its way. */
export function becameOf (exchange: Exchange, rule: string): Failed | null {
  const reasons = reasonsOf(exchange)
  const fix = CHANGED.find((row) => row.some((one) => reasons.includes(one as RefusalReason)))?.[0]
  return fix === undefined ? null : new Failed(describe(exchange), { rule, fix, reasons })
}
