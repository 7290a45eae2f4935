// Tokens against a store that does as the test says (contract section 6).
import t from 'tap'
import { AccessTokens, isAccessToken } from '../../lib/grants/access-token.ts'
import { randomSecret } from '../../lib/grants/sealing.ts'
import { type Store } from '../../lib/stores/store.ts'

const grant = { clientId: 'portal-1', codeChallenge: '', externalId: 'u-1', record: '{"external_id":"u-1"}' }
const LOCATOR = 'abcdefghijklmnopqrst'

class OneValue implements Store {
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
    return false
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
  for (const locator of ['', LOCATOR.slice(1), `${LOCATOR}a`, '!'.repeat(20), `${LOCATOR.slice(1)}!`, `!${LOCATOR.slice(1)}`]) {
    t.notOk(isAccessToken(locator + randomSecret()), locator)
  }
  t.notOk(isAccessToken(`${LOCATOR}${'!'.repeat(88)}`))
})
