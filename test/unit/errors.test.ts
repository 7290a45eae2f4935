// Refusals that look alike, and what the host learns of an error. What each refusal is: contract/refusals.
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

t.test('an error has a public description and a private cause', async (t) => {
  const cause = new Error('private')
  const error = new OAuthError('not_eligible', { cause, clientId: 'a' })
  const message = 'The user may not enter the portal.'
  t.match(error, { name: 'OAuthError', message, cause, context: { cause, clientId: 'a' }, wayBack: {} })
  const callback = () => 'https://portal.example/'
  const later = OAuthError.from(error, { clientId: 'b', externalId: 'u' }, { callback })
  t.strictSame(later.context, { cause, clientId: 'a', externalId: 'u' }, 'what it knew already is kept')
  t.strictSame([later.reason, later.wayBack], ['not_eligible', { callback }])
})
