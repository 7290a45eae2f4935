// Grants as text, the forms of codes and tokens, and how long a revocation lasts. What somebody can do who writes to
// the store: contract/checks/store, attacks/hostile-store.
import fc from 'fast-check'
import t from 'tap'
import { AccessTokens, readAccessToken } from '../../lib/grants/access-token.ts'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import { decodeGrant, encodeGrant } from '../../lib/grants/grant.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import type { Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { seed } from '../helpers/seed.ts'

const grant: Grant = { codeChallenge: '', externalId: 'u-1', record: '"u-1"\n"ada@example"\n1e3' }
const portal = new RegisteredPortal(PORTAL)

t.test('any grant survives, and its record is not written anew', async (t) => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n', '"', '\\', '\ud800', '\u2028', ''))
  fc.assert(fc.property(text, fc.constantFrom('', 'c'.repeat(43)), (externalId, codeChallenge) => {
    const given = { ...grant, externalId, codeChallenge }
    t.strictSame(decodeGrant(encodeGrant(given), 60), given)
  }), { numRuns: 200, seed })
})

t.test('older than its lifetime and five minutes by this clock, or further ahead: worth nothing', async (t) => {
  let time = 1_000_000
  t.intercept(Date, 'now', { value: () => time })
  const text = encodeGrant(grant)
  for (const [later, isValid] of [
    [1_360_000, true], [1_360_001, false], [700_000, true], [699_999, false], [0, false], [1e15, false]
  ] as const) {
    time = later
    t.equal(decodeGrant(text, 60) !== null, isValid, String(later))
  }
})

t.test('a revocation outlives the token by a minute', async (t) => {
  const lifetimes: number[] = []
  const store: Store = {
    async put (_key, _value, lifetime) { return lifetimes.push(lifetime) > 0 },
    async take () { return null },
    async revoke (_key, _lifetime) { lifetimes.push(_lifetime); return null }
  }
  const tokens = new AccessTokens(store, new GrantKeys(''), 60, 30)
  const locator = 'l'.repeat(43)
  await tokens.issue({ locator, proof: 'p'.repeat(43), sealed: '' }, PORTAL.clientId, Infinity)
  await tokens.revoke(locator, portal, Infinity)
  t.strictSame(lifetimes, [30, 90])
})

t.test('the form of a code', async (t) => {
  const codes = new AuthorizationCodes({} as Store, new GrantKeys(''), 60)
  const good = 'A-_9'.repeat(11)
  const rest = good.slice(1)
  t.match(codes.read(good, portal), { code: good, portal })
  for (const bad of ['', rest, `${good}A`, `!${rest}`, `${rest}!`, `${rest}=`, `${good}\n`]) {
    t.equal(codes.read(bad, portal), null, bad)
  }
})

t.test('the form of a token', async (t) => {
  const [locator, proof] = ['A-_9'.repeat(11).slice(1), '9_-A'.repeat(11).slice(1)]
  for (const clientId of ['p', 'partner-123', ' ~!', 'x'.repeat(255)]) {
    const encoded = Buffer.from(clientId).toString('base64url')
    t.strictSame(readAccessToken(locator + proof + encoded), { locator, proof, clientId }, clientId)
  }
  // "cA" is "p"; "cB" and "cH" have spare bits that are set.
  for (const bad of ['', proof, locator + proof, `${locator}${proof}c`, `${locator}${proof}cB`, `${locator}${proof}cH`,
    `${locator}${proof}cA=`, `${locator}${proof}cA\n`, `${locator}+${proof}cA`, ` ${locator}${proof}cA`,
    `${locator}${proof}${Buffer.from([0xff]).toString('base64url')}`]) {
    t.equal(readAccessToken(bad), null, bad)
  }
})
