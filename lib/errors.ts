/**
 * The code in the parameter `error` of a response that refuses a request.
 *
 * @see [RFC 6749 section 4.1.2.1](https://www.rfc-editor.org/rfc/rfc6749.html#section-4.1.2.1), authorization endpoint
 * @see [RFC 6749 section 5.2](https://www.rfc-editor.org/rfc/rfc6749.html#section-5.2), token endpoint
 * @see [RFC 6750 section 3.1](https://www.rfc-editor.org/rfc/rfc6750.html#section-3.1), `GET /oauth/user`
 */
export type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_token'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/**
 * The type of the event that reports a refusal. An alert can count refusals by it; {@link RefusalReason} says more
 * exactly why.
 */
export type RefusalType =
  | 'client_authentication_failed'
  | 'code_replayed'
  | 'request_rejected'
  | 'sign_in_refused'
  | 'store_unavailable'

/** What a response shows of a refusal. */
export interface PublicError {
  error: OAuthErrorCode
  /** The error_description: fixed ASCII without quote and backslash (RFC 6749 section 5.2), never an echo. */
  description: string
}

interface Refusal extends PublicError {
  /** HTTP status, unless the refusal is sent by redirect. */
  status: 400 | 401 | 405 | 500 | 503
  /** The type of the event. */
  type: RefusalType
  level: 'debug' | 'info' | 'warn' | 'error'
  /** Logged: what the host has to fix. Never sent. */
  hint?: string
}

const badRequest = (description: string, changes: Partial<Refusal> = {}): Refusal =>
  ({ error: 'invalid_request', status: 400, type: 'request_rejected', level: 'warn', description, ...changes })
const badGrant = (description: string): Refusal => badRequest(description, { error: 'invalid_grant' })
const denied = (description: string): Refusal =>
  badRequest(description, { error: 'access_denied', type: 'sign_in_refused', level: 'info' })
const notEligible = denied('The user may not enter the portal.')
const unavailable = (changes: Partial<Refusal>): Refusal =>
  badRequest('The service is temporarily unavailable.', { error: 'temporarily_unavailable', status: 503, ...changes })
const failed = (description: string, hint: string, type: RefusalType): Refusal =>
  ({ error: 'server_error', status: 500, type, level: 'error', description, hint })

// The response does not name the function of the host that failed; the reason in log and event does.
const hookFailed = (hint: string): Refusal =>
  failed('The sign-in could not be completed.', hint, 'sign_in_refused')
const requestFailed = (hint: string): Refusal =>
  failed('The request could not be completed.', hint, 'request_rejected')

// One sentence for all: an unknown client and a wrong secret, an unknown and a used code get the same response.
const badClient = badRequest('Client authentication failed.',
  { error: 'invalid_client', status: 401, type: 'client_authentication_failed' })
const badCode = badGrant('The code is unknown, used or expired.')

/** Every reason to refuse, by its stable reason code. Causes and fixes are in .github/RUNBOOK.md. */
export const refusals = {
  // All routes
  portal_failed: requestFailed('The `portal` function threw, or returned an invalid portal; see `err`.'),
  portal_timeout: unavailable({
    level: 'error', hint: 'The `portal` function did not return within `storeTimeout`.'
  }),
  parameters_excessive: badRequest('There are too many parameters.'),
  parameter_repeated: badRequest('A parameter is repeated.'),
  client_id_missing: badRequest('The client_id parameter is missing.'),
  redirect_uri_missing: badRequest('The redirect_uri parameter is missing.'),
  // The guard logs an outage once; a line for each request would repeat it.
  store_unavailable: unavailable({ type: 'store_unavailable', level: 'debug' }),
  internal_error: requestFailed('The plugin failed, or a hook changed its request; see `err`.'),

  // GET /oauth/authorize
  client_id_repeated: badRequest('The client_id parameter is repeated.'),
  client_id_unknown: badRequest('The client_id is not registered.'),
  redirect_uri_repeated: badRequest('The redirect_uri parameter is repeated.'),
  redirect_uri_unregistered: badRequest('The redirect_uri is not the registered one.'),
  response_type_missing: badRequest('The response_type parameter is missing.'),
  response_type_unsupported: badRequest('The response_type must be code.', { error: 'unsupported_response_type' }),
  state_missing: badRequest('The state parameter is missing.'),
  code_challenge_malformed:
    badRequest('The code_challenge is not a base64url SHA-256 value, or is missing although its method is given.'),
  code_challenge_method_unsupported: badRequest('The code_challenge_method must be S256.'),
  not_logged_in: denied('The user is not logged in at the partner application.'),
  not_eligible: notEligible,
  eligibility_undefined: {
    ...notEligible,
    level: 'warn',
    hint: '`portalEligibility` returned undefined. Is a `return` missing? Return null to deny.'
  },
  current_user_failed: hookFailed('`currentUser` threw; see `err`.'),
  login_page_failed: hookFailed('The `loginPage` function threw, or returned no URL; see `err`.'),
  portal_eligibility_failed: hookFailed('`portalEligibility` threw; see `err`.'),
  user_information_invalid: hookFailed('The record of `portalEligibility` is invalid; see `rule`.'),

  // POST /oauth/token
  body_already_read: badRequest('The body cannot be read.', {
    level: 'error',
    hint: 'A body parser of the host, such as express.urlencoded(), has read it: mount it on paths of the host only. ' +
      'Google Cloud Functions and Firebase read every body: in `routeOptions`, give the token route ' +
      "`preParsing: async ({ raw }) => Readable.from([raw.rawBody])`, with Readable of 'node:stream'."
  }),
  body_unreadable: badRequest('The body cannot be read.'),
  content_type_unsupported: badRequest('The body must be application/x-www-form-urlencoded.'),
  credentials_in_url: badRequest('Client credentials must not be sent in the URL.'),
  method_not_allowed: badRequest('The method is not allowed.', { status: 405 }),
  grant_type_missing: badRequest('The grant_type parameter is missing.'),
  grant_type_unsupported:
    badRequest('The grant_type must be authorization_code.', { error: 'unsupported_grant_type' }),
  code_missing: badRequest('The code parameter is missing.'),
  authentication_repeated: badRequest('More than one client authentication method is used.'),
  authentication_missing: { ...badClient, description: 'Client authentication is missing.' },
  authentication_malformed: badClient,
  client_unknown: badClient,
  client_secret_wrong: badClient,
  redirect_uri_mismatch: badGrant('The redirect_uri is not the one the code was issued for.'),
  code_malformed: badCode,
  code_unknown: badCode,
  code_replayed: { ...badCode, type: 'code_replayed' },
  code_verifier_missing: badGrant('The code_verifier is missing.'),
  code_verifier_unexpected:
    badGrant('A code_verifier was sent though the code was issued without a code_challenge.'),
  code_verifier_mismatch: badGrant('The code_verifier does not match the code_challenge.'),

  // GET /oauth/user
  credentials_missing: badRequest('An access token is needed.', { status: 401 }),
  authorization_malformed: badRequest('The Authorization header is malformed.'),
  token_unknown:
    badRequest('The access token is unknown, used or expired.', { error: 'invalid_token', status: 401 })
} satisfies Record<string, Refusal>

/**
 * Why a request was refused. A reason is more exact than the response, which must not tell everything to everybody. The
 * names are stable; log lines, events and the error page have them, and .github/RUNBOOK.md has cause and fix of each.
 */
export type RefusalReason = keyof typeof refusals

/**
 * In what a refused redirect_uri differs from the registered one (RFC 6749 section 3.1.2.3). What was given is not
 * reported.
 */
export type RedirectUriDifference =
  'scheme' | 'host' | 'port' | 'path' | 'trailing slash' | 'case' | 'query' | 'encoding'

/** What is known about a refused request, for the log and the event. */
export interface RefusalContext {
  /** The private cause. It is logged, never sent. */
  cause?: unknown
  /** The portal, once it is known. */
  clientId?: string
  /** The user, once known: the partner application's identifier. */
  externalId?: string
  /** The sign-in, once the portal is authenticated and its code or token is well-formed. See `PartnerSsoEvent`. */
  signInId?: string
  /** The registered redirect_uri, where another one was refused. */
  expected?: string
  /** How the refused redirect_uri differs from the registered one. */
  difference?: RedirectUriDifference
  /** The rule that the record of `portalEligibility` breaks, without personal data. */
  rule?: string
}

/** How a refusal of the authorization endpoint reaches the person or the portal. */
export interface WayBack {
  /** Where the person can start again, once the portal is known. */
  loginUrl?: string
  /**
   * Once the redirect_uri is trusted, the refusal leaves by redirect (RFC 6749 section 4.1.2.1): the location with the
   * given parameters.
   */
  callback?: (parameters: string) => string
}

/** A refusal. What is sent (`refusal`) and what is logged (`context`) are separate. */
export class OAuthError extends Error {
  readonly reason: RefusalReason
  readonly context: RefusalContext
  readonly wayBack: WayBack

  constructor (reason: RefusalReason, context: RefusalContext = {}, wayBack: WayBack = {}) {
    super(refusals[reason].description, { cause: context.cause })
    this.name = 'OAuthError'
    this.reason = reason
    this.context = context
    this.wayBack = wayBack
  }

  get refusal (): Refusal {
    return refusals[this.reason]
  }

  /** For `onError` hooks of the host, as error trackers have them: 500 or 503, also where the browser is redirected. */
  get statusCode (): number {
    return this.refusal.status
  }

  /**
   * Whether something has failed: a function of the host, the store or the plugin. Otherwise it is an ordinary outcome,
   * or the fault of the caller.
   */
  get isFailure (): boolean {
    return this.refusal.status >= 500
  }

  /** A refusal with what the route knows in addition. Anything else that was thrown becomes an `internal_error`. */
  static from (thrown: unknown, known: RefusalContext = {}, wayBack: WayBack = {}): OAuthError {
    if (!(thrown instanceof OAuthError)) {
      return new OAuthError('internal_error', { ...known, cause: thrown }, wayBack)
    }
    return new OAuthError(thrown.reason, { ...known, ...thrown.context }, { ...wayBack, ...thrown.wayBack })
  }
}
