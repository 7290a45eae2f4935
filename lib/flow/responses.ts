import type { Arrival } from './browser.ts'
import { isCallback } from './browser.ts'
import type { Failure } from './failure.ts'
import { describe, describeError, failure, oauthError } from './failure.ts'
import type { NetworkError } from './network-error.ts'
import type { Integration } from './integration.ts'
import type { UserInformation } from '../user-information.ts'
import { readUserInformation } from '../user-information.ts'
import type { Exchange } from './wire.ts'
import { header, isRedirect, jsonObject, statusOf } from './wire.ts'

/** What the portal reads in a response: a value, or the failure that ends the sign-in. */
export type Reading<Value> = { ok: true, value: Value } | Failure

const CODE_EXPECTED = 'a redirect to the redirect_uri with code and the same state'
const RECORD_EXPECTED = 'a record with the listed fields and the allowed values'

/** The step of an error in the callback: 5 decides who may enter, 6 validates the request. */
const CALLBACK_STEPS: Record<string, number> = {
  access_denied: 5,
  server_error: 5,
  invalid_request: 6,
  unsupported_response_type: 6
}

/** The step of a failure at an endpoint of the portal's server. */
interface Endpoint {
  /** No usable response. */
  sent: number
  /** An OAuth error. */
  refused: (error: string) => number
  /** 200 with a wrong body. */
  returned: number
  expected: string
}

const TOKEN_STEPS: Record<string, number> = {
  invalid_grant: 10,
  invalid_client: 11,
  temporarily_unavailable: 12,
  server_error: 12
}

const TOKEN: Endpoint = {
  sent: 9,
  refused: (error) => TOKEN_STEPS[error] ?? 9,
  returned: 12,
  expected: '200 and JSON with token_type "Bearer" and access_token'
}

const USER: Endpoint = {
  sent: 13,
  refused: () => 14,
  returned: 15,
  expected: '200 and JSON with the user information record'
}

/** Steps 5 to 8, seen from where the browser arrived. */
export function readArrival (
  arrival: Arrival, state: string, integration: Integration
): Reading<string> {
  const got = describe(arrival.exchange)
  switch (arrival.at) {
    case 'callback':
      return readCallback(arrival.callbackUrl, state, integration)
    case 'loop':
      return failure(5, 'redirect_loop', CODE_EXPECTED, `more than ten redirects, the last ${got}`)
    case 'elsewhere':
      return readElsewhere(got, integration)
    case 'nowhere':
      return noResponse(4, arrival.exchange, CODE_EXPECTED)
    case 'page':
      return readPage(arrival, integration)
  }
}

/** Steps 7 and 8: the redirect as it reaches the portal. */
function readCallback (
  callbackUrl: string, state: string, { redirectUri }: Integration
): Reading<string> {
  if (!isCallback(callbackUrl, new URL(redirectUri))) {
    return failure(7, 'not_redirected', CODE_EXPECTED, `a redirect to ${callbackUrl}`)
  }
  const { searchParams: parameters } = new URL(callbackUrl)
  const error = parameters.get('error')
  if (error !== null) {
    return failure(CALLBACK_STEPS[error] ?? 7, error, CODE_EXPECTED, describeError(parameters))
  }
  const [states, codes] = [parameters.getAll('state'), parameters.getAll('code')]
  if (states.length !== 1 || states[0] !== state) {
    const got = states.length === 0 ? 'no state' : 'another state'
    return failure(8, 'state_mismatch', 'exactly the state that was sent', got)
  }
  const [code = ''] = codes
  if (codes.length === 1 && code !== '') return { ok: true, value: code }
  return failure(7, 'no_code', CODE_EXPECTED, codes.length > 1 ? 'more than one code' : 'no code')
}

/** Steps 10 to 12. */
export function readToken (exchange: Exchange): Reading<string> {
  const read = readJson(exchange, TOKEN)
  if (!read.ok) return read
  const { token_type: type, access_token: token } = read.value
  const isText = typeof token === 'string'
  if (type === 'Bearer' && isText && token !== '') return { ok: true, value: token }
  return failure(
    12, 'malformed_token', TOKEN.expected,
    `token_type ${JSON.stringify(type)}, access_token ${isText ? 'given' : 'missing'}`
  )
}

/** Steps 14 and 15. */
export function readUser (
  exchange: Exchange, { level }: Pick<Integration, 'level'>
): Reading<UserInformation> {
  const read = readJson(exchange, USER)
  if (!read.ok) return read
  const { faults } = readUserInformation(read.value, level)
  if (faults.length > 0) return failure(15, 'malformed_record', RECORD_EXPECTED, faults.join('; '))
  return { ok: true, value: read.value as unknown as UserInformation }
}

function readJson (exchange: Exchange, endpoint: Endpoint): Reading<Record<string, unknown>> {
  const { sent, refused, returned, expected } = endpoint
  const { response } = exchange
  if (response === undefined) return noResponse(sent, exchange, expected)
  const got = describe(exchange)
  const error = oauthError(response)
  if (response.status >= 400 && error !== null) return failure(refused(error), error, expected, got)
  if (response.status !== 200) return failure(sent, statusError(response.status), expected, got)
  const body = jsonObject(response)
  const isTyped = /^application\/json\s*(?:;|$)/i.test(header(response, 'content-type'))
  if (body === null || !isTyped) return failure(returned, 'not_json', expected, got)
  return { ok: true, value: body }
}

function readPage ({ exchange, url }: Arrival, { authorizeUrl }: Integration): Reading<never> {
  const status = statusOf(exchange)
  const isEndpoint = url.split('?')[0] === authorizeUrl
  const fails = (step: number, error: string, got = describe(exchange)) =>
    failure(step, error, CODE_EXPECTED, got)
  if (status === 400 && isEndpoint) return fails(6, oauthError(exchange.response) ?? 'refused')
  if (status === 404 || status >= 500) return fails(isEndpoint ? 4 : 5, statusError(status))
  if (status === 401 || status === 403) return fails(5, 'login_required')
  const error = status < 300 && !isEndpoint ? 'login_required' : 'not_redirected'
  return fails(5, error, `${describe(exchange)} at ${url}`)
}

function readElsewhere (got: string, { redirectUri }: Integration): Reading<never> {
  return got.includes(new URL(redirectUri).origin)
    ? failure(7, 'not_redirected', `a redirect to ${redirectUri}`, got)
    : failure(5, 'login_required', CODE_EXPECTED, got)
}

function statusError (status: number): string {
  if (isRedirect(status)) return 'redirected'
  if (status === 404 || status === 405) return 'not_found'
  if (status === 401 || status === 403) return 'forbidden'
  if (status >= 502 && status <= 504) return 'unavailable'
  return status >= 500 ? 'server_error' : 'unexpected_status'
}

function noResponse (step: number, exchange: Exchange, expected: string): Failure {
  return failure(step, (exchange.networkError as NetworkError).code, expected, describe(exchange))
}
