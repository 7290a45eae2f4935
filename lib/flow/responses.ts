import type { Arrival } from './browser.ts'
import { describe, failure } from './failure.ts'
import type { Failure } from './failure.ts'
import type { NetworkError } from './network-error.ts'
import type { Integration } from './integration.ts'
import type { UserInformation } from '../user-information.ts'
import { readUserInformation } from '../user-information.ts'
import type { Exchange } from './wire.ts'
import { header, isRedirect, jsonObject, statusOf } from './wire.ts'

/** What the portal reads in a response: a value, or the failure that ends the sign-in. */
export type Reading<Value> = { ok: true, value: Value } | Failure

/** The step of an error in the callback: 5 decides who may enter, 6 validates the request. */
const CALLBACK_STEPS = new Map([
  ['access_denied', 5],
  ['server_error', 5],
  ['invalid_request', 6],
  ['unsupported_response_type', 6]
])

/** The step of an OAuth error at the token endpoint. */
const TOKEN_STEPS = new Map([
  ['invalid_grant', 10],
  ['invalid_client', 11],
  ['temporarily_unavailable', 12],
  ['server_error', 12]
])

/** Steps 5 to 8, seen from where the browser arrived. */
export function readArrival (
  arrival: Arrival, state: string, integration: Integration
): Reading<string> {
  const { at, exchange, target } = arrival
  const got = describe(exchange)
  switch (at) {
    case 'callback':
      return readCallback(target as URL, state, got)
    case 'loop':
      return failure(5, 'redirect_loop', `more than ten redirects, the last ${got}`)
    case 'elsewhere':
      return target?.origin === new URL(integration.redirectUri).origin
        ? failure(7, 'not_redirected', got)
        : failure(5, 'login_required', got)
    case 'nowhere':
      return noResponse(4, exchange)
    case 'page':
      return readPage(arrival, integration)
  }
}

/** Steps 7 and 8: the redirect as it reaches the portal. */
function readCallback ({ searchParams }: URL, state: string, got: string): Reading<string> {
  const error = searchParams.get('error')
  if (error !== null) return failure(CALLBACK_STEPS.get(error) ?? 7, error, got)
  const states = searchParams.getAll('state')
  if (states.length !== 1 || states[0] !== state) return failure(8, 'state_mismatch', got)
  const [code = '', ...others] = searchParams.getAll('code')
  if (code === '' || others.length > 0) return failure(7, 'no_code', got)
  return { ok: true, value: code }
}

function readPage ({ exchange, url }: Arrival, { authorizeUrl }: Integration): Failure {
  const status = statusOf(exchange)
  const got = `${describe(exchange)} at ${url}`
  const isEndpoint = url.split('?')[0] === authorizeUrl
  if (status === 400 && isEndpoint) return failure(6, oauthError(exchange) ?? 'refused', got)
  if (status === 404 || status >= 500) {
    return failure(isEndpoint ? 4 : 5, statusError(status), got)
  }
  const isLogin = !isEndpoint || [401, 403].includes(status)
  return failure(5, isLogin ? 'login_required' : 'not_redirected', got)
}

/** Steps 10 to 12. */
export function readToken (exchange: Exchange): Reading<string> {
  const read = readJson(exchange, 9, 12, (error) => TOKEN_STEPS.get(error) ?? 9)
  if (!read.ok) return read
  const { token_type: type, access_token: value } = read.value
  if (type === 'Bearer' && typeof value === 'string' && value !== '') {
    return { ok: true, value }
  }
  // Not the body: its other members may be tokens.
  const kind = typeof type === 'string' ? type : typeof type
  return failure(12, 'malformed_token', `token_type ${kind}, access_token ${typeof value}`)
}

/** Steps 14 and 15. */
export function readUser (
  exchange: Exchange, { level }: Integration
): Reading<UserInformation> {
  const read = readJson(exchange, 13, 15, () => 14)
  if (!read.ok) return read
  const { faults } = readUserInformation(read.value, level)
  if (faults.length > 0) return failure(15, 'malformed_record', faults.join('; '))
  return { ok: true, value: read.value as unknown as UserInformation }
}

/**
 * @param first - the step that sends the request: no usable response came
 * @param last - the step that returns the value
 * @param refusedAt - the step of an OAuth error
 */
function readJson (
  exchange: Exchange,
  first: number,
  last: number,
  refusedAt: (error: string) => number
): Reading<Record<string, unknown>> {
  const { response } = exchange
  if (response === undefined) return noResponse(first, exchange)
  const got = describe(exchange)
  const error = oauthError(exchange)
  if (response.status >= 400 && error !== null) return failure(refusedAt(error), error, got)
  if (response.status !== 200) return failure(first, statusError(response.status), got)
  const value = jsonObject(response)
  const isTyped = /^application\/json\s*(?:;|$)/i.test(header(response, 'content-type'))
  if (value === null || !isTyped) return failure(last, 'not_json', got)
  return { ok: true, value }
}

/**
 * The OAuth error code in a JSON body (RFC 6749 section 5.2), or null. Fastify's own error bodies name no
 * OAuth code.
 */
function oauthError ({ response }: Exchange): string | null {
  const error = jsonObject(response)?.error
  return typeof error === 'string' && /^[a-z_]+$/.test(error) ? error : null
}

function statusError (status: number): string {
  if (isRedirect(status)) return 'redirected'
  if ([404, 405].includes(status)) return 'not_found'
  if ([401, 403].includes(status)) return 'forbidden'
  if ([502, 503, 504].includes(status)) return 'unavailable'
  return status >= 500 ? 'server_error' : 'unexpected_status'
}

function noResponse (step: number, exchange: Exchange): Failure {
  const { code } = exchange.networkError as NetworkError
  return failure(step, code, describe(exchange))
}
