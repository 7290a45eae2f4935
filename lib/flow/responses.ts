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
const TOKEN_EXPECTED = '200 and JSON with token_type "Bearer" and access_token'
const USER_EXPECTED = '200 and JSON with the user information record'
const RECORD_EXPECTED = 'a record with the listed fields and the allowed values'

/** The step of an error in the callback: 5 decides who may enter, 6 validates the request. */
const CALLBACK_STEPS: Record<string, number> = {
  access_denied: 5,
  login_required: 5,
  server_error: 5,
  invalid_request: 6,
  unauthorized_client: 6,
  unsupported_response_type: 6,
  invalid_scope: 6
}

/** Steps 5 to 8, seen from where the browser arrived. */
export function readArrival (
  arrival: Arrival, state: string, integration: Integration
): Reading<string> {
  if (arrival.at === 'callback') return readCallback(arrival.callbackUrl, state, integration)
  if (arrival.at === 'loop') {
    return failure(
      5, 'redirect_loop', CODE_EXPECTED,
      `more than ten redirects, the last ${describe(arrival.exchange)}`
    )
  }
  if (arrival.at === 'elsewhere') return readElsewhere(arrival, integration)
  if (arrival.at === 'nowhere') return noResponse(4, arrival.exchange, CODE_EXPECTED)
  return readPage(arrival, integration)
}

/** Steps 7 and 8: the redirect as it reaches the portal. */
function readCallback (
  callbackUrl: string,
  state: string,
  { redirectUri }: Pick<Integration, 'redirectUri'>
): Reading<string> {
  if (!isCallback(callbackUrl, new URL(redirectUri))) {
    return failure(7, 'not_redirected', CODE_EXPECTED, `a redirect to ${callbackUrl}`)
  }
  const { searchParams: parameters } = new URL(callbackUrl)
  const error = parameters.get('error')
  if (error !== null) {
    return failure(CALLBACK_STEPS[error] ?? 7, error, CODE_EXPECTED, describeError(parameters))
  }
  const states = parameters.getAll('state')
  if (states.length !== 1 || states[0] !== state) {
    const got = states.length === 0
      ? 'no state'
      : `${states.length} state, not the one that was sent`
    return failure(8, 'state_mismatch', 'exactly the state that was sent', got)
  }
  const [code, ...more] = parameters.getAll('code')
  if (code === undefined || code === '' || more.length > 0) {
    return failure(7, 'no_code', CODE_EXPECTED, more.length > 0 ? 'more than one code' : 'no code')
  }
  return { ok: true, value: code }
}

/** Steps 10 to 12. */
export function readToken (exchange: Exchange): Reading<string> {
  const steps = { sent: 9, judged: (error: string) => TOKEN_STEPS[error] ?? 9, returned: 12 }
  const read = readJson(exchange, steps, TOKEN_EXPECTED)
  if (!read.ok) return read
  const { token_type: type, access_token: token } = read.value
  if (type === 'Bearer' && typeof token === 'string' && token !== '') {
    return { ok: true, value: token }
  }
  const given = typeof token === 'string' ? 'given' : 'missing'
  return failure(
    12, 'malformed_token', TOKEN_EXPECTED,
    `token_type ${JSON.stringify(type)}, access_token ${given}`
  )
}

const TOKEN_STEPS: Record<string, number> = {
  invalid_grant: 10,
  invalid_client: 11,
  unauthorized_client: 11,
  temporarily_unavailable: 12,
  server_error: 12
}

/** Steps 14 and 15. */
export function readUser (
  exchange: Exchange, { level }: Pick<Integration, 'level'>
): Reading<UserInformation> {
  const read = readJson(exchange, { sent: 13, judged: () => 14, returned: 15 }, USER_EXPECTED)
  if (!read.ok) return read
  const { faults } = readUserInformation(read.value, level)
  if (faults.length > 0) return failure(15, 'malformed_record', RECORD_EXPECTED, faults.join('; '))
  return { ok: true, value: read.value as unknown as UserInformation }
}

/** The step that failed: no usable response, an OAuth error, or 200 with a wrong body. */
interface StepNumbers { sent: number, judged: (error: string) => number, returned: number }

function readJson (
  exchange: Exchange, steps: StepNumbers, expected: string
): Reading<Record<string, unknown>> {
  const { response } = exchange
  if (response === undefined) return noResponse(steps.sent, exchange, expected)
  const error = oauthError(response)
  if (response.status >= 400 && error !== null) {
    return failure(steps.judged(error), error, expected, describe(exchange))
  }
  if (response.status !== 200) {
    return failure(steps.sent, statusError(response.status), expected, describe(exchange))
  }
  const body = jsonObject(response)
  const typed = /^application\/json\s*(?:;|$)/i.test(header(response, 'content-type'))
  if (body === null || !typed) {
    return failure(steps.returned, 'not_json', expected, describe(exchange))
  }
  return { ok: true, value: body }
}

function readPage ({ exchange, url }: Arrival, integration: Integration): Reading<never> {
  const status = statusOf(exchange)
  const atEndpoint = url.split('?')[0] === integration.authorizeUrl
  const fails = (step: number, error: string, got = describe(exchange)) =>
    failure(step, error, CODE_EXPECTED, got)
  if (status === 400 && atEndpoint) return fails(6, oauthError(exchange.response) ?? 'refused')
  if (status === 404 || status >= 500) return fails(atEndpoint ? 4 : 5, statusError(status))
  if (status === 401 || status === 403) return fails(5, 'login_required')
  const error = status < 300 && !atEndpoint ? 'login_required' : 'not_redirected'
  return fails(5, error, `${describe(exchange)} at ${url}`)
}

function readElsewhere ({ exchange }: Arrival, integration: Integration): Reading<never> {
  const got = describe(exchange)
  const registered = new URL(integration.redirectUri).origin
  if (got.includes(registered)) {
    return failure(7, 'not_redirected', `a redirect to ${integration.redirectUri}`, got)
  }
  return failure(5, 'login_required', CODE_EXPECTED, got)
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
