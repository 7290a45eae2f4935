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

/** The type of the event that reports a refusal. */
export type RefusalType =
  | 'client_authentication_failed'
  | 'code_replayed'
  | 'request_rejected'
  | 'sign_in_refused'
  | 'store_unavailable'

/** Where a request is refused. `page`: at the authorization endpoint, before the redirect_uri is trusted. */
export type RefusalPlace = 'page' | 'authorize' | 'token' | 'user'

interface Refusal {
  /** The error code in the answer. */
  error: OAuthErrorCode
  /** HTTP status where the answer is no redirect. */
  status: 400 | 401 | 500 | 503
  /** The type of the event. */
  type: RefusalType
  level: 'debug' | 'info' | 'warn' | 'error'
  /** The error_description: fixed ASCII without quote and backslash (RFC 6749 section 5.2), never an echo. */
  description: string
  /** Where requests are refused for this reason. */
  at: readonly RefusalPlace[]
  /** What it means and what to do, for the people who run the host. Never sent. */
  meaning: string
}

/** What differs between refusals of one kind. */
type Words = Pick<Refusal, 'at' | 'description' | 'meaning'>

const badRequest = (words: Words): Refusal =>
  ({ error: 'invalid_request', status: 400, type: 'request_rejected', level: 'warn', ...words })
const badGrant = (words: Words): Refusal => ({ ...badRequest(words), error: 'invalid_grant' })
const denied = (words: Words): Refusal =>
  ({ error: 'access_denied', status: 400, type: 'sign_in_refused', level: 'info', ...words })

// One sentence for all three: the answer must not tell an unknown client from a wrong secret.
const badClient = (meaning: string): Refusal => ({
  error: 'invalid_client',
  status: 401,
  type: 'client_authentication_failed',
  level: 'warn',
  description: 'Client authentication failed.',
  at: ['token'],
  meaning
})

// The portal is not told which function of the host failed; the reason code tells the host.
const hostFailed = (meaning: string): Refusal => ({
  error: 'server_error',
  status: 500,
  type: 'sign_in_refused',
  level: 'error',
  description: 'The sign-in could not be completed.',
  at: ['authorize'],
  meaning
})

const CODE_REFUSED = 'The code is unknown, used or expired.'
const MALFORMED_BY_PORTAL = 'The portal, or whoever plays it, sends an invalid request.'

/** Every reason to refuse, by its stable reason code. */
export const refusals = {
  client_id_missing: badRequest({
    at: ['page', 'token'],
    description: 'The client_id parameter is missing.',
    meaning: `${MALFORMED_BY_PORTAL} At authorize often a person who opened the URL by hand.`
  }),
  client_id_repeated: badRequest({
    at: ['page'],
    description: 'The client_id parameter is repeated.',
    meaning: MALFORMED_BY_PORTAL
  }),
  client_id_unknown: badRequest({
    at: ['page'],
    description: 'The client_id is not registered.',
    meaning: 'No portal has this client_id. Compare `portal.clientId` with the value that the portal shows.'
  }),
  redirect_uri_missing: badRequest({
    at: ['page', 'token'],
    description: 'The redirect_uri parameter is missing.',
    meaning: MALFORMED_BY_PORTAL
  }),
  redirect_uri_repeated: badRequest({
    at: ['page'],
    description: 'The redirect_uri parameter is repeated.',
    meaning: MALFORMED_BY_PORTAL
  }),
  redirect_uri_unregistered: badRequest({
    at: ['page'],
    description: 'The redirect_uri is not the registered one.',
    meaning: 'The redirect_uri differs from `portal.redirectUri` (`expected`); `difference` says in what. ' +
      'Register the one that the portal shows. From many addresses it is an attack, which failed.'
  }),
  portal_failed: {
    ...hostFailed('The `portal` function threw, or returned an invalid portal; `err` says which rule it breaks.'),
    type: 'request_rejected',
    at: ['page', 'token', 'user'],
    description: 'The request could not be completed.'
  },
  portal_timeout: {
    ...badRequest({
      at: ['page', 'token', 'user'],
      description: 'The service is temporarily unavailable.',
      meaning: 'The `portal` function did not return within `storeTimeout`. Look at the database or vault it asks.'
    }),
    error: 'temporarily_unavailable',
    status: 503,
    level: 'error'
  },
  parameters_excessive: badRequest({
    at: ['page', 'token'],
    description: 'There are too many parameters.',
    meaning: 'The request has more than 1000 parameters. The portal sends eight at most: it is an attack.'
  }),
  parameter_repeated: badRequest({
    at: ['authorize', 'token'],
    description: 'A parameter is repeated.',
    meaning: MALFORMED_BY_PORTAL
  }),
  response_type_missing: badRequest({
    at: ['authorize'],
    description: 'The response_type parameter is missing.',
    meaning: MALFORMED_BY_PORTAL
  }),
  response_type_unsupported: {
    ...badRequest({
      at: ['authorize'],
      description: 'The response_type must be code.',
      meaning: MALFORMED_BY_PORTAL
    }),
    error: 'unsupported_response_type'
  },
  state_missing: badRequest({
    at: ['authorize'],
    description: 'The state parameter is missing.',
    meaning: MALFORMED_BY_PORTAL
  }),
  code_challenge_malformed: badRequest({
    at: ['authorize'],
    description: 'The code_challenge is not a base64url SHA-256 value, or is missing beside its method.',
    meaning: MALFORMED_BY_PORTAL
  }),
  code_challenge_method_unsupported: badRequest({
    at: ['authorize'],
    description: 'The code_challenge_method must be S256.',
    meaning: MALFORMED_BY_PORTAL
  }),

  not_logged_in: denied({
    at: ['authorize'],
    description: 'The user is not logged in at the partner application.',
    meaning: 'Nobody is logged in, and there is no `loginPage` to send the browser to. ' +
      'If the user is logged in, the session cookie did not arrive: it must be `SameSite=Lax`.'
  }),
  not_eligible: denied({
    at: ['authorize'],
    description: 'The user may not enter the portal.',
    meaning: '`portalEligibility` returned null: the user may not enter.'
  }),
  current_user_failed: hostFailed('`currentUser` threw; `err` is what it threw.'),
  login_page_failed: hostFailed('The `loginPage` function threw, or returned no URL; `err` says which.'),
  portal_eligibility_failed: hostFailed('`portalEligibility` threw; `err` is what it threw.'),
  user_information_invalid: hostFailed('The record of `portalEligibility` is invalid; `rule` names the broken rule.'),

  body_already_read: {
    ...badRequest({
      at: ['token'],
      description: 'The body cannot be read.',
      meaning: 'A body parser of the host, such as `express.urlencoded()`, read the body before Fastify could. ' +
        'Mount it on the paths of your own routes only.'
    }),
    level: 'error'
  },
  content_type_unsupported: badRequest({
    at: ['token'],
    description: 'The body must be application/x-www-form-urlencoded.',
    meaning: MALFORMED_BY_PORTAL
  }),
  body_unreadable: badRequest({
    at: ['token'],
    description: 'The body cannot be read.',
    meaning: 'The body is larger than 16 KiB, is cut off, or is not valid form encoding.'
  }),
  credentials_in_url: badRequest({
    at: ['token'],
    description: 'Client credentials must not be sent in the URL.',
    meaning: `${MALFORMED_BY_PORTAL} The secret may be in logs on the way: rotate it.`
  }),
  grant_type_missing: badRequest({
    at: ['token'],
    description: 'The grant_type parameter is missing.',
    meaning: MALFORMED_BY_PORTAL
  }),
  grant_type_unsupported: {
    ...badRequest({
      at: ['token'],
      description: 'The grant_type must be authorization_code.',
      meaning: MALFORMED_BY_PORTAL
    }),
    error: 'unsupported_grant_type'
  },
  client_secret_missing: badRequest({
    at: ['token'],
    description: 'The client_secret parameter is missing.',
    meaning: MALFORMED_BY_PORTAL
  }),
  code_missing: badRequest({
    at: ['token'],
    description: 'The code parameter is missing.',
    meaning: MALFORMED_BY_PORTAL
  }),
  authentication_repeated: badRequest({
    at: ['token'],
    description: 'More than one client authentication method is used.',
    meaning: `${MALFORMED_BY_PORTAL} A proxy in front may add an Authorization header of its own.`
  }),
  authentication_malformed: badClient('The HTTP Basic header cannot be decoded.'),
  client_unknown: badClient('No portal has this client_id. Compare `portal.clientId` with what the portal shows.'),
  client_secret_wrong: badClient('The client_secret is wrong. Compare `portal.clientSecret` with what the portal ' +
    'shows; while the secret is rotated, list both.'),
  redirect_uri_mismatch: badGrant({
    at: ['token'],
    description: 'The redirect_uri is not the one the code was issued for.',
    meaning: 'The redirect_uri differs from `portal.redirectUri` (`expected`); `difference` says in what.'
  }),
  code_malformed: badGrant({
    at: ['token'],
    description: CODE_REFUSED,
    meaning: 'The value is no code of this plugin.'
  }),
  code_unknown: badGrant({
    at: ['token'],
    description: CODE_REFUSED,
    meaning: 'The code expired, was used before, belongs to another portal, or never existed. ' +
      'If it happens to every sign-in: several processes run without a shared store, or `codeLifetime` is too short.'
  }),
  code_replayed: {
    ...badGrant({
      at: ['token'],
      description: CODE_REFUSED,
      meaning: 'The code was sent twice, and its access token was revoked. Somebody may have stolen the code, ' +
        'or the portal repeats requests.'
    }),
    type: 'code_replayed'
  },
  code_verifier_missing: badGrant({
    at: ['token'],
    description: 'The code_verifier is missing.',
    meaning: 'The code was issued for a code_challenge, and no code_verifier was sent.'
  }),
  code_verifier_unexpected: badGrant({
    at: ['token'],
    description: 'A code_verifier was sent though the code was issued without a code_challenge.',
    meaning: 'A code_verifier was sent for a code without code_challenge: possibly an injected code.'
  }),
  code_verifier_mismatch: badGrant({
    at: ['token'],
    description: 'The code_verifier does not match the code_challenge.',
    meaning: 'The code_verifier does not match: possibly a stolen code.'
  }),

  credentials_missing: {
    ...badRequest({ at: ['user'], description: 'An access token is needed.', meaning: 'There is no Bearer token.' }),
    status: 401
  },
  authorization_malformed: badRequest({
    at: ['user'],
    description: 'The Authorization header is malformed.',
    meaning: `${MALFORMED_BY_PORTAL} The Bearer token is malformed, or the header is repeated.`
  }),
  token_unknown: {
    ...badRequest({
      at: ['user'],
      description: 'The access token is unknown, used or expired.',
      meaning: 'The token expired, was used before, was revoked, never existed, or its portal was removed or changed.'
    }),
    error: 'invalid_token',
    status: 401
  },

  store_unavailable: {
    error: 'temporarily_unavailable',
    status: 503,
    type: 'store_unavailable',
    // The log tells once when the store becomes unavailable, not with every request.
    level: 'debug',
    description: 'The service is temporarily unavailable.',
    at: ['authorize', 'token', 'user'],
    meaning: 'Redis, or the store of the host, did not answer within `storeTimeout`, or refused. ' +
      'The log has one error line with the cause when the store is lost, and one line when it is back.'
  },
  internal_error: {
    ...hostFailed('A fault of the plugin itself, or of a hook that changes its request; `err` is what was thrown.'),
    type: 'request_rejected',
    at: ['authorize', 'token', 'user'],
    description: 'The request could not be completed.'
  }
} satisfies Record<string, Refusal>

/** Why a request was refused: stable, for logs and `onEvent`, more exact than the answer. */
export type RefusalReason = keyof typeof refusals

/** In what a refused redirect_uri differs from the registered one. */
export type RedirectUriDifference =
  'scheme' | 'host' | 'port' | 'path' | 'trailing slash' | 'case' | 'query' | 'encoding'

/** What is known about a refused request. */
export interface RefusalContext {
  /** The private cause. It is logged, never sent. */
  cause?: unknown
  /** The portal, once it is known. */
  clientId?: string
  /** The user, once known: the partner application's identifier. */
  externalId?: string
  /** The registered redirect_uri, where another one is refused. */
  expected?: string
  /** In what the refused redirect_uri differs from it. */
  difference?: RedirectUriDifference
  /** The rule that a refused record breaks. */
  rule?: string
}

/** A refusal. The public answer and the private cause are apart. */
export class OAuthError extends Error {
  readonly reason: RefusalReason
  context: RefusalContext
  /** Set once the redirect_uri is trusted: from there on the error leaves by redirect (RFC 6749 section 4.1.2.1). */
  location?: string
  /** Where the person can start again, once the portal is known. */
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

  /** The error itself, or an `internal_error` with anything else as its cause. */
  static from (error: unknown): OAuthError {
    return error instanceof OAuthError ? error : new OAuthError('internal_error', { cause: error })
  }

  /** Adds what else is known; what the refusal knows already stays. */
  with (context: RefusalContext): this {
    this.context = { ...context, ...this.context }
    return this
  }
}
