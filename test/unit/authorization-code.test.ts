// Codes against a store that breaks its word.
import t from 'tap'
import { AuthorizationCodes, isAuthorizationCode } from '../../lib/grants/authorization-code.ts'
import { encodeGrant, type Grant } from '../../lib/grants/grant.ts'
import { open } from '../../lib/grants/sealing.ts'
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

t.test('two codes for the same user have no part in common', async (t) => {
  const store = { put: async () => true, take: async () => null, revoke: async () => false }
  const codes = new AuthorizationCodes(store, 60, '')
  const issue = async () => await codes.issue(new RegisteredPortal(PORTAL), grant, Infinity)
  const [one, other] = [await issue(), await issue()]
  for (let start = 0; start < 88; start += 11) t.not(one.slice(start, start + 11), other.slice(start, start + 11))
})

t.test('the form of a code', async (t) => {
  const code = 'A-b_'.repeat(22)
  t.ok(isAuthorizationCode(code))
  for (const other of ['', code.slice(1), `${code}A`, `${code.slice(1)}=`, `${code.slice(1)}!`, `${code}\n`]) {
    t.notOk(isAuthorizationCode(other), other)
  }
})

t.test('what a code yields is handed on as it is stored, with the key that opens it', async (t) => {
  const stored: string[] = []
  const store = {
    put: async (_key: string, value: string) => stored.push(value) > 0,
    take: async () => stored.at(-1) ?? null,
    revoke: async () => false
  }
  const codes = new AuthorizationCodes(store, 60, '')
  const portal = new RegisteredPortal(PORTAL)
  const code = await codes.issue(portal, grant, Infinity)
  const { redeemed, locator } = await codes.redeem(code, portal, Infinity)
  t.same(redeemed?.grant, grant)
  t.equal(redeemed?.locator, locator)
  t.equal(redeemed?.sealed, stored[0])
  t.equal(open(redeemed?.sealingKey as string, stored[0] as string), encodeGrant(grant))
  stored.push('A'.repeat(100))
  t.same(await codes.redeem(code, portal, Infinity), { redeemed: null, locator }, 'a value that does not open')
})
