import { escape } from './escape.ts'
import { firstWords } from './html.ts'
import type { Exchange, WireResponse } from './wire.ts'
import { header, jsonObject } from './wire.ts'

/** Why a sign-in stopped. Every text is free of secrets and of control characters. */
export interface Failure {
  ok: false
  /** The step of the flow that failed, 1 to 15. */
  step: number
  /**
   * A stable code. The service's own OAuth error (`access_denied`, `invalid_grant`, …) where it
   * sent one; else one of `unreachable`, `timeout`, `not_http`, `tls`, `hung_up`, `too_large`,
   * `app_failed`, `login_required`, `redirect_loop`, `not_redirected`, `refused`, `not_found`,
   * `redirected`, `forbidden`, `state_mismatch`, `no_code`, `not_json`, `malformed_token`,
   * `malformed_record`, `unavailable`, `server_error`, `unexpected_status`.
   */
  error: string
  /** What the portal expects here. */
  expected: string
  /** What it got instead. */
  got: string
  /** What to do about it. */
  fix: string
}

const FIXES = new Map(Object.entries({
  unreachable: 'Start the service, and check the base URL, its port and its path.',
  timeout: 'See what the service waits for: its database, its store, a hook that never replies.',
  not_http: 'Check the port: something other than the service listens there.',
  tls: 'Check whether the base URL must be http or https, and check the certificate.',
  hung_up: 'See the log of the service: a process or proxy closed the connection.',
  too_large: 'Check the address: this is not the response of an OAuth endpoint.',
  app_failed: 'See the error of the app: it did not start or inject() threw.',
  login_required: 'Log the user in first: pass a session cookie or header, or a login.',
  redirect_loop:
    'The login and the authorization endpoint lead to each other: most often the session cookie is not sent.',
  not_redirected: 'The authorization endpoint must redirect a good request to the redirect_uri.',
  refused:
    'Compare client_id and redirect_uri with what the service has registered, character by character.',
  not_found: 'Check the base URL and prefix; a proxy in front may strip or add a part of the path.',
  redirected:
    'Exempt this endpoint from the application’s login hook: the portal calls it without cookies.',
  forbidden:
    'Exempt this endpoint from the application’s hooks (login, CSRF): the portal calls it without cookies.',
  state_mismatch: 'Send the received state back unchanged; ' +
    'if it is unchanged, another sign-in was started in the same browser.',
  no_code: 'The redirect to the portal must carry the parameter code.',
  not_json:
    'Respond with JSON and Content-Type: application/json; a proxy may have responded in its place.',
  malformed_token: 'Return exactly token_type "Bearer" and a non-empty access_token.',
  malformed_record: 'Correct the record that the service builds for this user, or what changes it on the way.',
  access_denied:
    'This user may not use the portal: check who is logged in and what makes a user eligible.',
  invalid_request: 'See the log of the service for the parameter that it did not accept.',
  invalid_client: 'Compare client_id and client_secret with what the service has registered.',
  invalid_grant: 'The code was unknown, used, expired, or issued for another redirect_uri: check that all ' +
    'processes of the service share one store, and that nothing sends a request twice or keeps a response.',
  invalid_token: 'The token was unknown, used or expired: check that all processes of the service share ' +
    'one store, and that nothing sends a request twice or keeps a response.',
  server_error:
    'See the error log of the service: one of its functions threw, or the user’s record breaks a rule.',
  unavailable: 'A proxy or a process that is being stopped responded in place of the service, or ' +
    'the service waited for a database in vain: see their logs, then try again.',
  temporarily_unavailable: 'The store of the service fails: check Redis, or the store of your own.'
}))

/** What to do about an error code. */
export const fixFor = (error: string): string =>
  FIXES.get(error) ?? 'See the log of the service.'

/** What the portal expects of the response that a step belongs to. */
function expectedAt (step: number): string {
  if (step <= 8) return 'a redirect to the redirect_uri with code and the same state'
  if (step <= 12) return '200 and JSON with token_type "Bearer" and access_token'
  return '200 and JSON with a user information record: the listed fields, the allowed values'
}

export function failure (step: number, error: string, got: string): Failure {
  return {
    ok: false,
    step,
    error: escape(error),
    expected: expectedAt(step),
    got: escape(got),
    fix: fixFor(error)
  }
}

/** Describes a response in one line: status, error and its description, content, redirect. */
export function describe ({ request, response, networkError }: Exchange): string {
  // A real browser sent the request: its response is not seen here.
  if (response === undefined) return networkError?.sentence ?? redirectOf(request.url)
  const { error, error_description: description, message } = jsonObject(response) ?? {}
  const explanation = description ?? message
  const said = [
    redirectOf(header(response, 'location')),
    typeof error === 'string' ? `the error ${clip(error)} ${explained(explanation)}`.trim() : messageOf(explanation)
  ].filter(Boolean).join(' ')
  return `${response.status} with ${said || contentOf(response)}`
}

/** Where a redirect leads. An OAuth error in it is said in words (RFC 6749 section 4.1.2.1). */
function redirectOf (location: string): string {
  if (location === '') return ''
  const [address, query] = location.split('?')
  const parameters = new URLSearchParams(query)
  const error = parameters.get('error')
  if (error === null) return `a redirect to ${location}`
  const description = explained(parameters.get('error_description'))
  return `a redirect to ${address} with the error ${error} ${description}`.trim()
}

/** What an error handler says that names no error. */
const messageOf = (text: unknown): string =>
  typeof text === 'string' ? `the message “${clip(text)}”` : ''

const explained = (text: unknown): string =>
  typeof text === 'string' ? `(${clip(text)})` : ''

const clip = (text: string): string =>
  text.length > 160 ? `${text.slice(0, 160)}…` : text

/** The type of a body and its title or first words. */
function contentOf (response: WireResponse): string {
  if (response.body === '') return 'an empty body'
  const type = header(response, 'content-type').replace(/;.*/, '') || 'a body of no stated type'
  const encoding = header(response, 'content-encoding')
  if (encoding !== '') return `${type} in ${encoding}`
  const words = firstWords(response.body)
  return words === '' ? type : `${type} (“${words}”)`
}
