// Grants and stored values as text, and what their forms and lifetimes are. What somebody can do who writes to the
// store: contract/checks/store, attacks/hostile-store.
import fc from 'fast-check'
import t from 'tap'
import { AccessTokens, isAccessToken } from '../../lib/grants/access-token.ts'
import { isAuthorizationCode } from '../../lib/grants/authorization-code.ts'
import { decodeGrant, encodeGrant } from '../../lib/grants/grant.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { seal } from '../../lib/grants/sealing.ts'
import { StoredValue } from '../../lib/grants/stored-value.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { seed } from '../helpers/seed.ts'

const grant: Grant = {
  clientId: PORTAL.clientId, level: 'partner', codeChallenge: '', externalId: 'u-1', record: '"u-1"\n"ada@example"\n1e3'
}

t.test('any grant survives, and its record is not written anew', async (t) => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n', '"', '\\', '\ud800', '\u2028', ''))
  fc.assert(fc.property(text, fc.constantFrom('partner' as const, 'client' as const), (externalId, level) => {
    const given = { ...grant, level, externalId }
    t.strictSame(decodeGrant(encodeGrant(given)), given)
  }), { numRuns: 200, seed })
  for (const other of ['', 'text', 'p\npartner\n\nno JSON\n{}']) t.equal(decodeGrant(other), null)
})

const fingerprint = (letter: string) => (text: string) => [`${letter}${text.length}`.padEnd(20, letter)]
const [mine, other] = [fingerprint('m'), fingerprint('o')]
const both = (text: string) => [...mine(text), ...other(text)]

t.test('a value has its text, and is proven by each process that shares a secret', async (t) => {
  const value = StoredValue.decode(StoredValue.encode('1_text', both), 60)
  t.match(value, { text: '1_text', count: 2 })
  t.ok(value?.isProvenBy(mine))
  t.ok(value?.isProvenBy(other))
  t.notOk(value?.isProvenBy(fingerprint('x')))
  t.notOk(value?.isProvenBy(() => []))
})

t.test('older than its lifetime and five minutes by this clock: worth nothing', async (t) => {
  let time = 1_000_000
  t.intercept(Date, 'now', { value: () => time })
  const value = StoredValue.encode('text', mine)
  for (const [later, isValid] of [[1_360_000, true], [1_360_001, false], [0, true]] as const) {
    time = later
    t.equal(StoredValue.decode(value, 60) !== null, isValid, String(later))
  }
  time = 1_400_000
  const dated = value.replace('1000000_', '1400000_')
  t.notOk(StoredValue.decode(dated, 60)?.isProvenBy((text) => mine(text.replace('1400000', '100000'))))
})

t.test('what cannot be a value of ours', async (t) => {
  const value = StoredValue.encode('text', mine)
  const counts = ['0', '', '-1', '1.5', '01', '12345', '9'.repeat(400)].map((count) => value.replace(/^1/, count))
  for (const forged of [null, '', '1_', value.slice(2), value.slice(0, 25), value.replace(/_/g, '-'), ...counts]) {
    t.equal(StoredValue.decode(forged, 60), null, String(forged))
  }
  const longest = 1024 * 1024
  t.ok(StoredValue.decode(value + 'A'.repeat(longest - value.length), 60))
  t.equal(StoredValue.decode(value + 'A'.repeat(longest - value.length + 1), 60), null)
})

/** A store of one value, which it gives to whoever asks. */
class OneValue {
  value = ''
  lifetime = 0

  async put (_key: string, value: string, lifetime: number): Promise<boolean> {
    Object.assign(this, { value, lifetime })
    return true
  }

  async take (): Promise<string> { return this.value }

  async revoke (_key: string, lifetime: number): Promise<boolean> {
    Object.assign(this, { lifetime })
    return true
  }
}

const keys = new GrantKeys('')
const portalOf = (clientSecret: string) => new RegisteredPortal({ ...PORTAL, clientSecret })

t.test('who writes to the store and knows a code, but no secret, makes no token', async (t) => {
  const tokens = new AccessTokens(new OneValue(), keys, 30)
  const guessed = portalOf('a guess')
  const { locator } = keys.ofCode('c'.repeat(44), guessed)
  const sealingKey = 'k'.repeat(43)
  const forged = { locator, sealingKey, sealed: seal(sealingKey, encodeGrant(grant)) }
  const found = await tokens.redeem(await tokens.issue(forged, guessed, Infinity) as string, Infinity)
  t.strictSame(found?.grant, grant, 'it opens, and')
  t.notOk(found?.wasIssuedFor(portalOf(PORTAL.clientSecret)), 'is not taken for one of ours')
})

t.test('a revocation outlives the token by a minute', async (t) => {
  const store = new OneValue()
  const tokens = new AccessTokens(store, keys, 30)
  await tokens.issue({ locator: 'l'.repeat(20), sealingKey: 'k'.repeat(43), sealed: '' }, portalOf('a'), Infinity)
  t.equal(store.lifetime, 30)
  await tokens.revoke('c'.repeat(44), portalOf('a'), Infinity)
  t.equal(store.lifetime, 90)
})

t.test('the forms of a code and a token', async (t) => {
  for (const [is, length] of [[isAuthorizationCode, 44], [isAccessToken, 63]] as const) {
    const good = 'A-_9'.repeat(16).slice(0, length)
    const rest = good.slice(1)
    t.ok(is(good))
    for (const bad of ['', rest, `${good}A`, `!${rest}`, `${rest}!`, `${rest}=`, `${good}\n`]) t.notOk(is(bad), bad)
  }
})
