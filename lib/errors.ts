/**
 * The error codes that leave the service: RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1.
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

/** The event that a refusal is reported as. */
export type RefusalType =
  | 'client_authentication_failed'
  | 'code_replayed'
  | 'request_rejected'
  | 'sign_in_refused'
  | 'store_unavailable'

interface Refusal {
  /** What the other side is told. */
  error: OAuthErrorCode
  /** HTTP status where the answer is no redirect. */
  status: 400 | 401 | 500 | 503
  /** What the host is told it was. */
  type: RefusalType
  level: 'debug' | 'info' | 'warn' | 'error'
  /** Fixed ASCII without quote and backslash (RFC 6749 section 5.2), never an echo. */
  description: string
}

const badRequest = (description: string): Refusal =>
  ({ error: 'invalid_request', status: 400, type: 'request_rejected', level: 'warn', description })
const badGrant = (description: string, type: RefusalType = 'request_rejected'): Refusal =>
  ({ error: 'invalid_grant', status: 400, type, level: 'warn', description })
// One sentence for all three: the answer must not tell an unknown client from a wrong secret.
const badClient: Refusal =
  { error: 'invalid_client', status: 401, type: 'client_authentication_failed', level: 'warn', description: 'Client authentication failed.' }
const denied = (description: string): Refusal =>
  ({ error: 'access_denied', status: 400, type: 'sign_in_refused', level: 'info', description })
// The other side is not told which hook failed; the reason code tells the host.
const hostFailed: Refusal =
  { error: 'server_error', status: 500, type: 'sign_in_refused', level: 'error', description: 'The sign-in could not be completed.' }

/** Every reason to refuse, by its stable reason code. */
export const refusals = {
  client_id_missing: badRequest('The client_id parameter is missing.'),
  client_id_repeated: badRequest('The client_id parameter is repeated.'),
  client_id_unknown: badRequest('The client_id is not registered.'),
  redirect_uri_missing: badRequest('The redirect_uri parameter is missing.'),
  redirect_uri_repeated: badRequest('The redirect_uri parameter is repeated.'),
  redirect_uri_unregistered: badRequest('The redirect_uri is not the registered one.'),
  parameter_repeated: badRequest('A parameter is repeated.'),
  response_type_missing: badRequest('The response_type parameter is missing.'),
  response_type_unsupported: { ...badRequest('The response_type must be code.'), error: 'unsupported_response_type' },
  state_missing: badRequest('The state parameter is missing.'),
  code_challenge_malformed: badRequest('The code_challenge is not a base64url SHA-256 value, or is missing beside its method.'),
  code_challenge_method_unsupported: badRequest('The code_challenge_method must be S256.'),

  portal_failed: { ...hostFailed, type: 'request_rejected', description: 'The request could not be completed.' },
  portal_timeout: {
    error: 'temporarily_unavailable',
    status: 503,
    type: 'request_rejected',
    level: 'error',
    description: 'The service is temporarily unavailable.'
  },

  not_logged_in: denied('The user is not logged in at the partner application.'),
  not_eligible: denied('The user may not enter the portal.'),
  current_user_failed: hostFailed,
  login_page_failed: hostFailed,
  portal_eligibility_failed: hostFailed,
  user_information_invalid: hostFailed,

  content_type_unsupported: badRequest('The body must be application/x-www-form-urlencoded.'),
  body_unreadable: badRequest('The body cannot be read.'),
  credentials_in_url: badRequest('Client credentials must not be sent in the URL.'),
  grant_type_missing: badRequest('The grant_type parameter is missing.'),
  grant_type_unsupported: { ...badRequest('The grant_type must be authorization_code.'), error: 'unsupported_grant_type' },
  client_secret_missing: badRequest('The client_secret parameter is missing.'),
  code_missing: badRequest('The code parameter is missing.'),
  authentication_repeated: badRequest('More than one client authentication method is used.'),
  authentication_malformed: badClient,
  client_unknown: badClient,
  client_secret_wrong: badClient,
  redirect_uri_mismatch: badGrant('The redirect_uri is not the one the code was issued for.'),
  code_malformed: badGrant('The code is unknown, used or expired.'),
  code_used_or_expired: badGrant('The code is unknown, used or expired.', 'code_replayed'),
  code_replayed: badGrant('The code is unknown, used or expired.', 'code_replayed'),
  code_verifier_missing: badGrant('The code_verifier is missing.'),
  code_verifier_unexpected: badGrant('A code_verifier was sent though the code was issued without a code_challenge.'),
  code_verifier_mismatch: badGrant('The code_verifier does not match the code_challenge.'),

  credentials_missing: { ...badRequest('An access token is needed.'), status: 401 },
  authorization_malformed: badRequest('The Authorization header is malformed.'),
  token_unknown: { ...badRequest('The access token is unknown, used or expired.'), error: 'invalid_token', status: 401 },

  // The log tells when the store becomes unavailable, once; not again with every request.
  store_unavailable: { error: 'temporarily_unavailable', status: 503, type: 'store_unavailable', level: 'debug', description: 'The service is temporarily unavailable.' },
  internal_error: { ...hostFailed, type: 'request_rejected', description: 'The request could not be completed.' }
} satisfies Record<string, Refusal>

/** Why a request was refused: stable, for logs and `onEvent`, more exact than what the other side is told. */
export type RefusalReason = keyof typeof refusals

/** What is known about a refused request. */
export interface RefusalContext {
  /** The private cause. It is logged, never sent. */
  cause?: unknown
  /** The portal concerned, once it is known. */
  clientId?: string
  /** The user concerned, once known: the partner application's identifier. */
  externalId?: string
  /** What a refused redirect_uri should have been. */
  expected?: string
}

/** A refusal: the public answer apart from the private cause. */
export class OAuthError extends Error {
  readonly reason: RefusalReason
  readonly context: RefusalContext
  /** Set once the redirect_uri is trusted: from there on the error leaves by redirect (RFC 6749 section 4.1.2.1). */
  location?: string
  /** Where a sign-in starts at the portal, once it is known: the error page links to it. */
  loginUrl?: string

  constructor (reason: RefusalReason, context: RefusalContext = {}) {
    super(refusals[reason].description, { cause: context.cause })
    this.name = 'OAuthError'
    this.reason = reason
    this.context = context
  }

  get refusal (): Refusal {
    return refusals[this.reason]
  }

  /** The error itself, or an `internal_error` caused by what is no refusal of ours. */
  static from (error: unknown): OAuthError {
    return error instanceof OAuthError ? error : new OAuthError('internal_error', { cause: error })
  }

  /** The same refusal, with more known about it. */
  with (context: RefusalContext): OAuthError {
    return new OAuthError(this.reason, { ...context, ...this.context })
  }
}
