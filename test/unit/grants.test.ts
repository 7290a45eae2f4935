// The forms of codes and tokens, and how long a revocation lasts. What somebody can do who writes to
// the store: contract/checks/store, attacks/hostile-store.
import * as crypto from 'node:crypto'
import t from 'tap'
import { AccessTokens, readAccessToken } from '../../lib/grants/access-token.ts'
import { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import type { Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL, recordOf } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'

const grant: Grant = { codeChallenge: '', record: recordOf('u-1') }
const portal = new RegisteredPortal(PORTAL)

t.test('a code is 33 bytes that the system drew', async (t) => {
  const drawn: string[] = []
  const randomBytes = (length: number) => {
    const bytes = crypto.randomBytes(length)
    drawn.push(bytes.toString('base64url'))
    return bytes
  }
  const { AuthorizationCodes: Codes } = await t.mockImport<{ AuthorizationCodes: typeof AuthorizationCodes }>(
    lib('grants/authorization-code.ts'), { 'node:crypto': { ...crypto, randomBytes } }
  )
  const codes = new Codes({ put: async () => true } as unknown as Store, new GrantKeys(''), 60)
  const issued = [await codes.issue(portal, grant, Infinity), await codes.issue(portal, grant, Infinity)]
  t.strictSame(issued.map(({ code }) => code), drawn)
  t.strictSame(drawn.map((code) => code.length), [44, 44])
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
  t.match(codes.read(good, portal), { code: good, portal })
  for (const bad of [good.slice(1), `${good}A`, `${good.slice(1)}=`, `${good}\n`]) {
    t.equal(codes.read(bad, portal), null, bad)
  }
})

t.test('the form of a token', async (t) => {
  const [locator, proof] = ['A-_9'.repeat(11).slice(1), '9_-A'.repeat(11).slice(1)]
  for (const clientId of ['p', ' ~!', 'x'.repeat(255)]) {
    const encoded = Buffer.from(clientId).toString('base64url')
    t.strictSame(readAccessToken(locator + proof + encoded), { locator, proof, clientId }, clientId)
  }
  // "cA" is "p"; "cB" has spare bits that are set.
  for (const end of ['', 'c', 'cB', 'cA=', 'cA\n', Buffer.of(0xff).toString('base64url')]) {
    t.equal(readAccessToken(locator + proof + end), null, end)
  }
})
