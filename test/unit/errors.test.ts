// Every refusal: what the other side is told, and what the host is told it was.
import t from 'tap'
import { OAuthError, refusals } from '../../lib/errors.ts'

/** RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1: the statuses that each error code may have. */
const STATUSES: Record<string, number[]> = {
  access_denied: [400],
  invalid_client: [401],
  invalid_grant: [400],
  // 401 where the request has no credentials: then the code is not sent.
  invalid_request: [400, 401],
  invalid_token: [401],
  server_error: [500],
  temporarily_unavailable: [503],
  unsupported_grant_type: [400],
  unsupported_response_type: [400]
}

t.test('each error code has a status of its RFC, each description the characters that it may have', async (t) => {
  for (const [reason, { error, status, description }] of Object.entries(refusals)) {
    t.ok(STATUSES[error]?.includes(status), `${reason}: ${error} ${status}`)
    t.match(description, /^[A-Z][\x20-\x21\x23-\x5b\x5d-\x7e]{15,}\.$/, reason)
  }
})

t.test('what the host has to fix is logged as an error, with a hint', async (t) => {
  for (const [reason, { level, hint, status }] of Object.entries(refusals)) {
    if (hint !== undefined) t.match(hint, /^[A-Z`][^]{15,}\.$/, reason)
    if (status === 500) t.equal(level, 'error', reason)
  }
})

t.test('an unknown client looks like a wrong secret, and an unknown code like any other bad code', async (t) => {
  t.equal(refusals.client_unknown, refusals.client_secret_wrong)
  t.equal(refusals.authentication_malformed, refusals.client_secret_wrong)
  for (const reason of ['code_malformed', 'code_replayed'] as const) {
    const { error, status, description } = refusals[reason]
    t.match(refusals.code_unknown, { error, status, description }, reason)
  }
})

t.test('an error tells its description, and its cause to the host alone', async (t) => {
  const cause = new Error('private')
  const error = new OAuthError('not_eligible', { cause, clientId: 'a' })
  const message = 'The user may not enter the portal.'
  t.match(error, { name: 'OAuthError', message, cause, context: { cause, clientId: 'a' }, wayBack: {} })
  const callback = () => 'https://portal.example/'
  const later = OAuthError.from(error, { clientId: 'b', externalId: 'u' }, { callback })
  t.strictSame(later.context, { cause, clientId: 'a', externalId: 'u' }, 'what it knew already stays')
  t.strictSame([later.reason, later.wayBack], ['not_eligible', { callback }])
})

t.test('what is no refusal of ours is an internal error', async (t) => {
  const bug = new TypeError('bug')
  const error = OAuthError.from(bug, { clientId: 'a' })
  t.match(error, { reason: 'internal_error', context: { cause: bug, clientId: 'a' }, wayBack: {} })
})
