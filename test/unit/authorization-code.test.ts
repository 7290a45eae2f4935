// Codes against a store that breaks its word (contract section 6).
import t from 'tap'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'

const grant = { clientId: PORTAL.clientId, codeChallenge: '', externalId: 'u-1', record: '{"external_id":"u-1"}' }

t.test('a code is not given out when the store says that it held its key before', async (t) => {
  const store = { put: async () => false, take: async () => null, revoke: async () => false }
  await t.rejects(new AuthorizationCodes(store, 60, '').issue(new RegisteredPortal(PORTAL), grant, Infinity), {
    name: 'OAuthError',
    reason: 'internal_error',
    context: { cause: 'The store says that it holds a key that was never used' }
  })
})
