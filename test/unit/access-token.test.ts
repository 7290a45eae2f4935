// Tokens against a store that does as the test says.
import t from 'tap'
import { AccessTokens, isAccessToken } from '../../lib/grants/access-token.ts'
import { encodeGrant, type Grant, type SealedGrant } from '../../lib/grants/grant.ts'
import { fingerprint, open, randomSecret, seal } from '../../lib/grants/sealing.ts'
import { type TimedStore } from '../../lib/stores/store.ts'

const grant: Grant = {
  clientId: 'portal-1', level: 'partner', codeChallenge: '', externalId: 'u-1', record: '{"external_id":"u-1"}'
}
const LOCATOR = 'abcdefghijklmnopqrst'
const sealingKey = randomSecret(32)
const sealedGrant: SealedGrant = { locator: LOCATOR, sealingKey, sealed: seal(sealingKey, encodeGrant(grant)) }

class OneValue implements TimedStore {
  key = ''
  value = ''
  lifetime = 0
  taken = 0

  async put (key: string, value: string, lifetime: number): Promise<boolean> {
    Object.assign(this, { key, value, lifetime })
    return true
  }

  async take (): Promise<string> {
    this.taken++
    return this.value
  }

  async revoke (_key: string, lifetime: number): Promise<boolean> {
    this.lifetime = lifetime
    return this.value !== ''
  }
}

/** A store, and a token that is kept in it. */
async function issued (scope = '') {
  const store = new OneValue()
  const tokens = new AccessTokens(store, 30, scope)
  return { store, tokens, token: await tokens.issue(sealedGrant, Infinity) as string }
}

t.test('a revocation outlives the token, and the request that may be about to issue it, by a minute', async (t) => {
  const { store, tokens } = await issued()
  t.equal(store.lifetime, 30)
  await tokens.revoke(LOCATOR, Infinity)
  t.equal(store.lifetime, 90)
})

t.test('a token yields the grant that it was issued for', async (t) => {
  const { tokens, token } = await issued()
  t.same(await tokens.redeem(token, Infinity), grant)
})

t.test('what one registration issued another does not accept, even where the store mixes them up', async (t) => {
  const { store, token } = await issued('/a')
  t.same(await new AccessTokens(store, 60, '/a').redeem(token, Infinity), grant)
  t.equal(await new AccessTokens(store, 60, '/b').redeem(token, Infinity), null)
})

t.test('the form of a token', async (t) => {
  const { token } = await issued()
  t.ok(isAccessToken(token))
  for (const other of ['', token.slice(1), `${token}A`, `!${token.slice(1)}`, `${token.slice(1)}!`, `${token}\n`]) {
    t.notOk(isAccessToken(other), other)
  }
})

t.test('whoever has seen the code knows all of the token but 264 random bits', async (t) => {
  const { store, tokens, token } = await issued()
  const other = await tokens.issue(sealedGrant, Infinity) as string
  const known = LOCATOR + sealingKey
  for (const text of [token, other]) {
    t.equal(text.slice(0, known.length), known)
    t.match(text.slice(known.length), /^[\w-]{44}$/)
  }
  for (const start of [63, 74, 85, 96]) t.not(token.slice(start, start + 11), other.slice(start, start + 11))
  t.equal(await tokens.redeem(token, Infinity), null, 'the one that is stored is another')
  t.equal(store.taken, 1, 'there is one try')
})

t.test('every character of a token counts', async (t) => {
  const { tokens, token } = await issued()
  for (let index = 0; index < token.length; index++) {
    const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
    t.equal(await tokens.redeem(changed, Infinity), null, String(index))
  }
  t.same(await tokens.redeem(token, Infinity), grant)
})

t.test('a stored value that was changed yields nothing', async (t) => {
  const { store, tokens, token } = await issued()
  const { value } = store
  const changes = ['', value.slice(0, 20), value.slice(0, -1), value.slice(1), `A${value}`, value.slice(20)]
  for (const changed of [...changes, value.slice(0, 20) + seal(randomSecret(32), encodeGrant(grant))]) {
    store.value = changed
    t.equal(await tokens.redeem(token, Infinity), null, changed)
  }
  store.value = value
  t.same(await tokens.redeem(token, Infinity), grant)
})

t.test('a revocation tells whether the token was alive', async (t) => {
  const store = new OneValue()
  const tokens = new AccessTokens(store, 30, '')
  t.equal(await tokens.revoke(LOCATOR, Infinity), false)
  await tokens.issue(sealedGrant, Infinity)
  t.equal(await tokens.revoke(LOCATOR, Infinity), true)
})

t.test('every store call has the deadline', async (t) => {
  const seen: number[] = []
  const store: TimedStore = {
    async put (_key, _value, _lifetime, deadline) { return seen.push(deadline) > 0 },
    async take (_key, deadline) { seen.push(deadline); return null },
    async revoke (_key, _lifetime, deadline) { return seen.push(deadline) > 0 }
  }
  const tokens = new AccessTokens(store, 30, '')
  const token = await tokens.issue(sealedGrant, 1) as string
  await tokens.redeem(token, 2)
  await tokens.revoke(LOCATOR, 3)
  t.strictSame(seen, [1, 2, 3])
})

t.test('the store sees fingerprints, of tokens and of this registration only, and the sealed grant', async (t) => {
  const { store: { key, value }, token } = await issued('/a')
  t.equal(key, fingerprint(`access_token /a ${LOCATOR}`))
  t.equal(value, fingerprint(`access_token /a ${token}`) + sealedGrant.sealed)
  t.not(open(sealingKey, value.slice(20)), null)
  for (const part of [LOCATOR, sealingKey, token.slice(-44)]) {
    t.notOk((key + value).includes(part))
    t.notOk(Buffer.from(value, 'base64url').includes(Buffer.from(part, 'base64url')))
  }
})
