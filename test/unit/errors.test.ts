// Refusals that look alike, and what an error tells the host. What each refusal is: contract/refusals.
import t from 'tap'
import { OAuthError, refusals } from '../../lib/errors.ts'

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
