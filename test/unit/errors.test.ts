// What the host learns of an error. What each refusal is: contract/refusals.
import t from 'tap'
import { OAuthError } from '../../lib/errors.ts'

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
