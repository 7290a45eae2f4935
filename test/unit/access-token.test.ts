// Tokens against a store that does as the test says.
import t from 'tap'
import { AccessTokens, isAccessToken } from '../../lib/grants/access-token.ts'
import { type Grant } from '../../lib/grants/grant.ts'
import { open, randomSecret, sealingKey, storageKey } from '../../lib/grants/sealing.ts'
import { type TimedStore } from '../../lib/stores/store.ts'

const grant: Grant = {
  clientId: 'portal-1', level: 'partner', codeChallenge: '', externalId: 'u-1', record: '{"external_id":"u-1"}'
}
const LOCATOR = 'abcdefghijklmnopqrst'

class OneValue implements TimedStore {
  value = ''
  lifetime = 0

  async put (_key: string, value: string, lifetime: number): Promise<boolean> {
    Object.assign(this, { value, lifetime })
    return true
  }

  async take (): Promise<string> {
    return this.value
  }

  async revoke (_key: string, lifetime: number): Promise<boolean> {
    this.lifetime = lifetime
    return this.value !== ''
  }
}

t.test('a revocation outlives the token, and the request that may be about to issue it, by a minute', async (t) => {
  const store = new OneValue()
  const tokens = new AccessTokens(store, 30, '')
  await tokens.issue(LOCATOR, grant, Infinity)
  t.equal(store.lifetime, 30)
  await tokens.revoke(LOCATOR, Infinity)
  t.equal(store.lifetime, 90)
})

t.test('what one registration sealed another does not open, even where the store mixes them up', async (t) => {
  const store = new OneValue()
  const token = await new AccessTokens(store, 60, '/a').issue(LOCATOR, grant, Infinity) as string
  t.same(await new AccessTokens(store, 60, '/a').redeem(token, Infinity), grant)
  t.equal(await new AccessTokens(store, 60, '/b').redeem(token, Infinity), null)
})

t.test('the form of a token', async (t) => {
  t.ok(isAccessToken(LOCATOR + randomSecret()))
  const part = LOCATOR.slice(1)
  for (const locator of ['', part, `${LOCATOR}a`, '!'.repeat(20), `${part}!`, `!${part}`]) {
    t.notOk(isAccessToken(locator + randomSecret()), locator)
  }
  t.notOk(isAccessToken(`${LOCATOR}${'!'.repeat(88)}`))
})

t.test('a revocation tells whether the token was alive', async (t) => {
  const store = new OneValue()
  const tokens = new AccessTokens(store, 30, '')
  t.equal(await tokens.revoke(LOCATOR, Infinity), false)
  await tokens.issue(LOCATOR, grant, Infinity)
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
  await tokens.issue(LOCATOR, grant, 1)
  await tokens.redeem(LOCATOR + randomSecret(), 2)
  await tokens.revoke(LOCATOR, 3)
  t.strictSame(seen, [1, 2, 3])
})

t.test('keys are derived for tokens only: a code of the same text and scope yields other keys', async (t) => {
  const stored: [string, string][] = []
  const store: TimedStore = {
    async put (key, value) { return stored.push([key, value]) > 0 },
    async take () { return null },
    async revoke () { return false }
  }
  const token = await new AccessTokens(store, 30, '/a').issue(LOCATOR, grant, Infinity) as string
  const [[key, sealed]] = stored as [[string, string]]
  const secret = token.slice(LOCATOR.length)
  t.equal(key, storageKey(`access_token /a ${LOCATOR}`))
  t.not(open(sealingKey(secret, 'access_token /a'), sealed), null)
  for (const info of ['/a', ' /a', 'authorization_code /a', 'access_token /b', 'access_token ']) {
    t.equal(open(sealingKey(secret, info), sealed), null, info)
    t.not(key, storageKey(`${info} ${LOCATOR}`), info)
  }
})
