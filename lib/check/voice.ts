import type { RefusalReason } from '../errors.ts'
import { refusals } from '../errors.ts'
import { describe } from '../flow/failure.ts'
import type { Exchange, WireResponse } from '../flow/wire.ts'
import { header, isRedirect, jsonObject, statusOf } from '../flow/wire.ts'
import { Failed } from './rule.ts'

export type Endpoint = 'authorize' | 'token' | 'user'

/** Reasons by the plugin's sentence: several reasons share one on purpose. */
const BY_SENTENCE = new Map<string, RefusalReason[]>()
for (const [reason, { description }] of Object.entries(refusals)) {
  BY_SENTENCE.set(description, [...(BY_SENTENCE.get(description) ?? []), reason as RefusalReason])
}

const BEARER = 'Bearer realm="partner-sso"'

/** Why the plugin refused a request. Empty where the response is not a refusal of the plugin. */
export function reasonsOf (exchange: Exchange): readonly RefusalReason[] {
  const { response } = exchange
  if (response === undefined) return []
  if (header(response, 'www-authenticate') === BEARER) return ['credentials_missing']
  const sentence = sentenceIn(exchange)
  return BY_SENTENCE.get(sentence) ?? []
}

function sentenceIn ({ request, response }: Exchange): string {
  const location = header(response, 'location')
  if (location !== '' && URL.canParse(location, request.url)) {
    return new URL(location, request.url).searchParams.get('error_description') as string
  }
  const body = String(response?.body)
  const shown = /For support: ([^<]{1,200}?)(?: Request ID:|<)/.exec(body.slice(0, 8192))
  return String(jsonObject(response)?.error_description ?? shown?.[1] ?? '')
}

/** Whether the plugin has added its headers: they are on each response of its three routes. */
export const isOnRoute = ({ response }: Exchange): boolean =>
  /no-store/i.test(header(response, 'cache-control')) && /no-cache/i.test(header(response, 'pragma'))

/** Whether a response redirects with a code. */
export const hasCode = ({ response }: { response?: WireResponse | undefined }): boolean =>
  /[?&]code=/.test(header(response, 'location'))

/** What somebody other than the plugin said. */
export function quoted (exchange: Exchange): string {
  const { response } = exchange
  const marks = ['server', 'via', 'cf-ray', 'x-cache']
    .map((name) => [name, header(response, name)] as const)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value.slice(0, 60)}`)
  return `${describe(exchange)}${marks.length === 0 ? '' : ` [${marks.join('; ')}]`}`
}

const NAMES = { authorize: 'GET /oauth/authorize', token: 'POST /oauth/token', user: 'GET /oauth/user' }

/** The finding on a response that the plugin did not give. */
export function notThePlugin (exchange: Exchange, endpoint: Endpoint): Failed {
  const got = `${exchange.request.method} ${pathOf(exchange)}: ${quoted(exchange)}`
  const moved = endpoint === 'authorize' ? movedTo(exchange) : null
  const rule =
    moved === null ? `${endpoint}.hook` : `address.${moved === 'https:' ? 'https' : 'no-downgrade'}`
  const [words, fix] = whoSpoke(exchange, endpoint)
  return new Failed(`${words}: ${got}`, { rule, fix })
}

const pathOf = ({ request: { url } }: Exchange): string => new URL(url).pathname

/** Who responded in place of the plugin, and where to look. */
function whoSpoke (exchange: Exchange, endpoint: Endpoint): [words: string, fix: string] {
  const status = statusOf(exchange)
  const exempt =
    `Exempt ${NAMES[endpoint].split(' ')[1]} from it` +
    (endpoint === 'authorize' ? '.' : ': the portal calls it server to server, without cookies.')
  const route = /Route [A-Z]+:(\S+?)(?:\?\S*)? not found/.exec(String(exchange.response?.body))
  if (route !== null) return absent(exchange, String(route[1]))
  if (sameElsewhere(exchange) !== null) {
    return [
      'it is redirected to another scheme or host',
      'Give the portal the address at which the app responds without a redirect, and that as base URL.'
    ]
  }
  if ([502, 503, 504].includes(status) && !isOnRoute(exchange)) {
    return [
      'a proxy responds, and no app behind it',
      'Start the app, and see whether the proxy leads to its port.'
    ]
  }
  if (status === 404) {
    return [
      'nothing is at this path',
      `Check the base URL and the prefix; a proxy in front must pass ${NAMES[endpoint]} on, with its path.`
    ]
  }
  if (status === 405 || status === 501) {
    return ['something in front refuses the method', `Let the proxy pass ${NAMES[endpoint]} on.`]
  }
  if (isOnRoute(exchange)) {
    return [
      'a hook of the app responds before the plugin',
      `Look for a hook of the app (onRequest, preHandler: login, CSRF, API keys, bot protection). ${exempt}`
    ]
  }
  return [
    'something in front of the plugin responds',
    `It is a proxy, firewall or CDN in front of the app, or middleware or a hook of the app. ${exempt}`
  ]
}

function absent (exchange: Exchange, path: string): [words: string, fix: string] {
  const sent = pathOf(exchange)
  if (path !== sent) {
    return [
      `${sent} arrives as ${path}`,
      'Something in front changes the path: pass it on as it is, or give the plugin the prefix that the app sees.'
    ]
  }
  return ['the app has no such route', 'Register the plugin; check the base URL and the prefix.']
}

/** The scheme that a redirect to the same address at another scheme leads to; null elsewhere. */
function movedTo (exchange: Exchange): string | null {
  const to = sameElsewhere(exchange)
  const { hostname, protocol } = new URL(exchange.request.url)
  return to?.hostname === hostname && to.protocol !== protocol ? to.protocol : null
}

/** Where a redirect leads to the same path at another scheme or host; null elsewhere. */
function sameElsewhere ({ request, response }: Exchange): URL | null {
  const location = header(response, 'location')
  if (response === undefined || !isRedirect(response.status) || !URL.canParse(location, request.url)) {
    return null
  }
  const [from, to] = [new URL(request.url), new URL(location, request.url)]
  return from.pathname === to.pathname && from.origin !== to.origin ? to : null
}

const FORM = 'the form of the token request'
const LOST = 'Something on the way drops it, in front of the app or in a hook: pass the whole query on.'
const TWICE =
  'Something on the way adds a parameter, or reads the query and writes it again: pass it on as it is.'
const BODY =
  'A body parser of the app, or middleware in front, reads the form first, most often an Express one ' +
  '(express.urlencoded, NestJS): exempt /oauth/token from it.'
const HEADER =
  'A proxy or hook removes, replaces or adds the Authorization header (a password of a staging server ' +
  'does): let it reach /oauth/token and /oauth/user as the portal sent it.'
const STORE = 'See why the app cannot reach its store, or the `portal` function what it needs.'

/** Refusals of a complete request: what became of it on the way, and where to look. */
const BECAME: Partial<Record<RefusalReason, [became: string, fix: string]>> = {
  client_id_missing: ['the request arrives without its parameters', LOST],
  redirect_uri_missing: ['the request arrives without its redirect_uri', LOST],
  response_type_missing: ['the request arrives without its response_type', LOST],
  state_missing: ['the request arrives without its state', LOST],
  code_challenge_malformed: ['the code_challenge arrives changed', LOST],
  response_type_unsupported: ['the response_type arrives changed', TWICE],
  parameter_repeated: ['a parameter arrives twice', TWICE],
  client_id_repeated: ['client_id arrives twice', TWICE],
  redirect_uri_repeated: ['redirect_uri arrives twice', TWICE],
  parameters_excessive: ['more parameters arrive than were sent', TWICE],
  grant_type_missing: [`${FORM} arrives empty`, BODY],
  grant_type_unsupported: [`${FORM} arrives changed`, BODY],
  code_missing: [`${FORM} arrives without its code`, BODY],
  body_unreadable: [`${FORM} cannot be read`, BODY],
  content_type_unsupported: ['the Content-Type of the form arrives changed', BODY],
  credentials_in_url: [
    'credentials arrive in the URL',
    'Something on the way moves them: pass the request on as it is.'
  ],
  method_not_allowed: [
    'POST /oauth/token arrives as GET',
    'A redirect or proxy changes the method: give the portal the address that needs no redirect.'
  ],
  authentication_missing: ['the client credentials do not arrive', HEADER],
  authentication_repeated: ['a second method of client authentication arrives', HEADER],
  credentials_missing: ['the Authorization header does not arrive', HEADER],
  authorization_malformed: ['the Authorization header arrives changed', HEADER],
  internal_error: [
    'the plugin failed, or a hook changed its request',
    'See `err` in the log line of the app.'
  ],
  portal_failed: [
    'the `portal` function threw or returned an invalid portal',
    'See `err` in the log line of the app.'
  ],
  store_unavailable: ['the store, or the `portal` function, is not available', STORE],
  client_secret_wrong: [
    'the client_id and client_secret are not the registered ones',
    'Compare both with what the app has registered: the secret exactly, with no space or line break.'
  ],
  redirect_uri_mismatch: [
    'the redirect_uri is not the registered one',
    'Register exactly the redirect_uri of the portal.'
  ]
}

/** What became of a complete request that the plugin refuses; null where the reason says nothing of it. */
export function becameOf (exchange: Exchange, rule: string): Failed | null {
  const reasons = reasonsOf(exchange)
  const known = reasons.map((reason) => BECAME[reason]).find((became) => became !== undefined)
  if (known === undefined) return null
  const [became, fix] = known
  return new Failed(`${became}: ${describe(exchange)}`, { rule, fix, reasons })
}
