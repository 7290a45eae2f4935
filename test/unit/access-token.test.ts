// Tokens against a store that somebody else writes to.
import t from 'tap'
import type { Test } from 'tap'
import { AccessTokens, isAccessToken } from '../../lib/grants/access-token.ts'
import { encodeGrant } from '../../lib/grants/grant.ts'
import type { Grant, SealedGrant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { seal } from '../../lib/grants/sealing.ts'
import type { Portal } from '../../lib/options/portal.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { OneValue } from '../helpers/one-value.ts'

const grant: Grant = {
  clientId: PORTAL.clientId, level: 'partner', codeChallenge: '', externalId: 'u-1', record: '{"a":1}'
}
const portalOf = (changes: Partial<Portal> = {}) => new RegisteredPortal({ ...PORTAL, ...changes })
const CODE = 'c'.repeat(44)

/** What the code gave. */
function redeemed (portal: RegisteredPortal): SealedGrant {
  const keys = new GrantKeys('')
  const [sealingKey] = keys.sealingKeys(CODE, portal) as [string]
  return { locator: keys.ofCode(CODE, portal).locator, sealingKey, sealed: seal(sealingKey, encodeGrant(grant)) }
}

/** A token in a store that gives its value to whoever asks. */
async function issued (changes: Partial<Portal> = {}) {
  const store = new OneValue()
  const tokens = new AccessTokens(store, new GrantKeys(''), 30)
  const portal = portalOf(changes)
  const token = await tokens.issue(redeemed(portal), portal, Infinity) as string
  const accepts = async (changes: Partial<Portal> = {}): Promise<boolean> =>
    (await tokens.redeem(token, Infinity))?.wasIssuedFor(portalOf(changes)) ?? false
  return { store, tokens, token, portal, accepts }
}

function setClock (t: Test, seconds: number): void {
  const time = Date.now() + seconds * 1000
  t.intercept(Date, 'now', { value: () => time })
}

t.test('a token represents the grant, for portals that share a secret with the one it was issued for', async (t) => {
  const { tokens, token, accepts } = await issued({ clientSecret: ['old', 'new'] })
  t.strictSame((await tokens.redeem(token, Infinity))?.grant, grant)
  for (const clientSecret of ['old', 'new', ['newer', 'old']]) t.ok(await accepts({ clientSecret }))
  t.notOk(await accepts({ clientSecret: 'newer' }))
  t.notOk(await accepts({ clientSecret: 'old', clientId: 'other' }))
  const moved = { level: 'client', loginUrl: 'https://x.example', redirectUri: 'https://x.example' } as const
  t.ok(await accepts({ clientSecret: 'old', ...moved }))
})

t.test('every character of a token counts', async (t) => {
  const { tokens, token, portal } = await issued()
  for (let index = 0; index < token.length; index++) {
    const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
    const found = await tokens.redeem(changed, Infinity)
    t.notOk(found?.wasIssuedFor(portal), String(index))
  }
})

t.test('who writes to the store and has a code, but no secret, makes no token', async (t) => {
  // A key of the writer's choice seals a record, beside fingerprints made with a guessed secret.
  const { store, tokens, token, accepts } = await issued()
  const key = 'k'.repeat(43)
  const forgedToken = token.slice(0, 20) + key
  const guessed = portalOf({ clientSecret: 'a guess' })
  const forged = redeemed(guessed)
  await tokens.issue({ ...forged, sealingKey: key, sealed: seal(key, encodeGrant(grant)) }, guessed, Infinity)
  const found = await tokens.redeem(forgedToken, Infinity)
  t.strictSame(found?.grant, grant, 'it opens, and')
  t.notOk(found?.wasIssuedFor(portalOf()), 'is not taken for one of ours')
  const { value } = store
  for (const changed of ['', 'x', value.replace('1_', '2_'), value.slice(1), value.slice(0, -1), value.slice(0, 40)]) {
    store.value = changed
    t.notOk(await accepts(), changed)
  }
})

t.test('a value that is written back later is worth nothing, whatever time it names', async (t) => {
  const { store, accepts } = await issued()
  await t.test('up to five minutes beyond the lifetime', async (t) => {
    setClock(t, 30 + 299)
    t.ok(await accepts())
  })
  setClock(t, 30 + 301)
  t.notOk(await accepts())
  store.value = store.value.replace(/^(1_.{20})\d+/, `$1${Date.now()}`)
  t.notOk(await accepts(), 'the fingerprint covers the time')
})

t.test('a revocation finds the token by the code, and outlives it by a minute', async (t) => {
  const { store, tokens, portal } = await issued()
  const { key } = store
  t.equal(store.lifetime, 30)
  t.equal(await tokens.revoke(CODE, portalOf({ level: 'client', clientSecret: 'rotated' }), Infinity), true)
  t.equal(store.key, key)
  t.equal(store.lifetime, 90)
  store.value = ''
  t.equal(await tokens.revoke(CODE, portal, Infinity), false, 'no token was alive')
  const revoked = new AccessTokens(Object.assign(new OneValue(), { put: async () => false }), new GrantKeys(''), 30)
  t.equal(await revoked.issue(redeemed(portal), portal, Infinity), null, 'revoked before it was issued')
})

t.test('the store sees no part of a token', async (t) => {
  const { store: { key, value }, token } = await issued()
  for (const part of [token.slice(0, 20), token.slice(20)]) {
    for (const form of [key, value]) {
      t.notOk(form.includes(part))
      t.notOk(Buffer.from(form, 'base64url').includes(Buffer.from(part, 'base64url')))
    }
  }
})

t.test('the form of a token', async (t) => {
  const { token } = await issued()
  t.ok(isAccessToken(token))
  for (const other of ['', token.slice(1), `${token}A`, `!${token.slice(1)}`, `${token.slice(1)}!`, `${token}\n`]) {
    t.notOk(isAccessToken(other), other)
  }
})
