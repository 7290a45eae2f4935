// Codes against a store that breaks its word.
import t from 'tap'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import { type Grant } from '../../lib/grants/grant.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'

const grant: Grant = {
  clientId: PORTAL.clientId, level: 'partner', codeChallenge: '', externalId: 'u-1', record: '{"external_id":"u-1"}'
}

t.test('a code is not given out when the store says that it held its key before', async (t) => {
  const store = { put: async () => false, take: async () => null, revoke: async () => false }
  await t.rejects(new AuthorizationCodes(store, 60, '').issue(new RegisteredPortal(PORTAL), grant, Infinity), {
    name: 'OAuthError',
    reason: 'internal_error',
    context: { cause: 'The store says that it holds a key that was never used' }
  })
})

t.test('neither the code nor the store shows what the code is bound to', async (t) => {
  const stored: string[] = []
  const store = {
    put: async (key: string, value: string) => stored.push(key, value) > 0,
    take: async () => null,
    revoke: async () => false
  }
  // Long enough not to occur by chance.
  const externalId = 'user-of-the-partner'
  const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
  const codes = new AuthorizationCodes(store, 60, '')
  const code = await codes.issue(new RegisteredPortal(PORTAL), { ...grant, codeChallenge, externalId }, Infinity)
  for (const text of [code, ...stored]) {
    for (const form of [text, Buffer.from(text, 'base64url').toString('latin1')]) {
      t.notOk(form.includes(codeChallenge), 'the code_challenge')
      t.notOk(form.includes(Buffer.from(codeChallenge, 'base64url').toString('latin1')), 'its bytes')
      t.notOk(form.includes(externalId), 'the external_id')
      t.notOk(form.includes(code) && text !== code, 'the code')
    }
  }
})
