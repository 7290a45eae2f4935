// Grants and stored values as text, and what their forms and lifetimes are. What somebody can do who writes to the
// store: contract/checks/store, attacks/hostile-store.
import fc from 'fast-check'
import t from 'tap'
import { AccessTokens, isAccessToken } from '../../lib/grants/access-token.ts'
import { isAuthorizationCode } from '../../lib/grants/authorization-code.ts'
import { decodeGrant, encodeGrant } from '../../lib/grants/grant.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { StoredValue } from '../../lib/grants/stored-value.ts'
import type { Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
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

const mine = (text: string) => [`m${text.length}`.padEnd(20, 'm')]

t.test('a value has its text, with a proof for each secret', async (t) => {
  for (const [text, count] of [['1_text', 2], ['text', 10]] as const) {
    const proofs = (text: string) => Array.from({ length: count }, () => mine(text)).flat()
    const value = StoredValue.decode(StoredValue.encode(text, proofs), 60)
    t.match(value, { text, count })
    t.ok(value?.isProvenBy(mine))
    t.notOk(value?.isProvenBy(() => []))
  }
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
  const uncounted = value.slice(21)
  for (const forged of [
    null, '', uncounted, value.slice(2), value.replace('1_m', 'x1_'), value.replace(/^1/, '12345')
  ]) {
    t.equal(StoredValue.decode(forged, 60), null, String(forged))
  }
  const longest = 1024 * 1024
  t.ok(StoredValue.decode(value + 'A'.repeat(longest - value.length), 60))
  t.equal(StoredValue.decode(value + 'A'.repeat(longest - value.length + 1), 60), null)
})

t.test('a revocation outlives the token by a minute', async (t) => {
  const lifetimes: number[] = []
  const note = async (lifetime: number): Promise<boolean> => lifetimes.push(lifetime) > 0
  const store: Store = {
    put: (_key, _value, lifetime) => note(lifetime), take: async () => null, revoke: (_key, lifetime) => note(lifetime)
  }
  const tokens = new AccessTokens(store, new GrantKeys(''), 30)
  const portal = new RegisteredPortal(PORTAL)
  await tokens.issue({ locator: 'l'.repeat(20), sealingKey: 'k'.repeat(43), sealed: '' }, portal, Infinity)
  await tokens.revoke('c'.repeat(44), portal, Infinity)
  t.strictSame(lifetimes, [30, 90])
})

t.test('the forms of a code and a token', async (t) => {
  for (const [is, length] of [[isAuthorizationCode, 44], [isAccessToken, 63]] as const) {
    const good = 'A-_9'.repeat(16).slice(0, length)
    const rest = good.slice(1)
    t.ok(is(good))
    for (const bad of ['', rest, `${good}A`, `!${rest}`, `${rest}!`, `${rest}=`, `${good}\n`]) t.notOk(is(bad), bad)
  }
})
