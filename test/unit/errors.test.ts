// Every refusal: what the other side is told, and what the host is told it was.
import t from 'tap'
import { OAuthError, refusals, type RefusalReason } from '../../lib/errors.ts'

const expected: Record<RefusalReason, string> = {
  client_id_missing: '400 invalid_request request_rejected warn',
  client_id_repeated: '400 invalid_request request_rejected warn',
  client_id_unknown: '400 invalid_request request_rejected warn',
  redirect_uri_missing: '400 invalid_request request_rejected warn',
  redirect_uri_repeated: '400 invalid_request request_rejected warn',
  redirect_uri_unregistered: '400 invalid_request request_rejected warn',
  portal_failed: '500 server_error request_rejected error',
  portal_timeout: '503 temporarily_unavailable request_rejected error',
  parameters_excessive: '400 invalid_request request_rejected warn',
  parameter_repeated: '400 invalid_request request_rejected warn',
  response_type_missing: '400 invalid_request request_rejected warn',
  response_type_unsupported: '400 unsupported_response_type request_rejected warn',
  state_missing: '400 invalid_request request_rejected warn',
  code_challenge_malformed: '400 invalid_request request_rejected warn',
  code_challenge_method_unsupported: '400 invalid_request request_rejected warn',
  not_logged_in: '400 access_denied sign_in_refused info',
  not_eligible: '400 access_denied sign_in_refused info',
  current_user_failed: '500 server_error sign_in_refused error',
  login_page_failed: '500 server_error sign_in_refused error',
  portal_eligibility_failed: '500 server_error sign_in_refused error',
  user_information_invalid: '500 server_error sign_in_refused error',
  body_already_read: '400 invalid_request request_rejected error',
  content_type_unsupported: '400 invalid_request request_rejected warn',
  body_unreadable: '400 invalid_request request_rejected warn',
  credentials_in_url: '400 invalid_request request_rejected warn',
  grant_type_missing: '400 invalid_request request_rejected warn',
  grant_type_unsupported: '400 unsupported_grant_type request_rejected warn',
  client_secret_missing: '400 invalid_request request_rejected warn',
  code_missing: '400 invalid_request request_rejected warn',
  authentication_repeated: '400 invalid_request request_rejected warn',
  authentication_malformed: '401 invalid_client client_authentication_failed warn',
  client_unknown: '401 invalid_client client_authentication_failed warn',
  client_secret_wrong: '401 invalid_client client_authentication_failed warn',
  redirect_uri_mismatch: '400 invalid_grant request_rejected warn',
  code_malformed: '400 invalid_grant request_rejected warn',
  code_unknown: '400 invalid_grant request_rejected warn',
  code_replayed: '400 invalid_grant code_replayed warn',
  code_verifier_missing: '400 invalid_grant request_rejected warn',
  code_verifier_unexpected: '400 invalid_grant request_rejected warn',
  code_verifier_mismatch: '400 invalid_grant request_rejected warn',
  credentials_missing: '401 invalid_request request_rejected warn',
  authorization_malformed: '400 invalid_request request_rejected warn',
  token_unknown: '401 invalid_token request_rejected warn',
  store_unavailable: '503 temporarily_unavailable store_unavailable debug',
  internal_error: '500 server_error request_rejected error'
}

t.test('status, error, event and log level of each', async (t) => {
  t.strictSame(Object.keys(refusals), Object.keys(expected))
  for (const reason of Object.keys(expected) as RefusalReason[]) {
    const { status, error, type, level } = new OAuthError(reason).refusal
    t.equal([status, error, type, level].join(' '), expected[reason], reason)
  }
})

t.test('each description is a sentence in the characters that RFC 6749 section 5.2 allows', async (t) => {
  for (const [reason, { description }] of Object.entries(refusals)) {
    t.match(description, /^[A-Z][\x20-\x21\x23-\x5b\x5d-\x7e]{15,}\.$/, reason)
  }
})

t.test('an error tells its description, and its cause to the host alone', async (t) => {
  const cause = new Error('private')
  const error = new OAuthError('not_eligible', { cause, clientId: 'a' })
  const message = 'The user may not enter the portal.'
  t.match(error, { name: 'OAuthError', message, cause, context: { cause, clientId: 'a' } })
  const { context } = error.with({ clientId: 'b', externalId: 'u' })
  t.strictSame(context, { cause, clientId: 'a', externalId: 'u' }, 'what is known stays')
  t.equal(error.with({}).reason, 'not_eligible')
})

t.test('what is no refusal of ours is an internal error', async (t) => {
  const refusal = new OAuthError('not_eligible')
  t.equal(OAuthError.from(refusal), refusal)
  const bug = new TypeError('bug')
  t.match(OAuthError.from(bug), { reason: 'internal_error', context: { cause: bug } })
})

t.test('each reason is explained, and names where it occurs', async (t) => {
  for (const [reason, { meaning, at }] of Object.entries(refusals)) {
    t.match(meaning, /^[^]{15,}\.$/, reason)
    t.ok(at.length > 0, reason)
  }
})
