// The forms of codes and tokens, and how long a revocation lasts. What somebody can do who writes to
// the store: contract/checks/store, attacks/hostile-store.
import * as crypto from 'node:crypto'
import t from 'tap'
import { accessTokens, readAccessToken } from '../../lib/grants/access-token.ts'
import { authorizationCodes } from '../../lib/grants/authorization-code.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { grantKeys } from '../../lib/grants/keys.ts'
import type { Store } from '../../lib/index.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL, recordOf } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'

const grant: Grant = { codeChallenge: '', record: recordOf('u-1') }
const portal = registeredPortal(PORTAL)

t.test('a code is 33 bytes that the system drew', async (t) => {
  const drawn: string[] = []
  const randomBytes = (length: number) => {
    const bytes = crypto.randomBytes(length)
    drawn.push(bytes.toString('base64url'))
    return bytes
  }
  const mocked = await t.mockImport<{ authorizationCodes: typeof authorizationCodes }>(
    lib('grants/authorization-code.ts'), { 'node:crypto': { ...crypto, randomBytes } }
  )
  const codes = mocked.authorizationCodes({ put: async () => true } as unknown as Store, grantKeys(''), 60)
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
  const tokens = accessTokens(store, grantKeys(''), 60, 30)
  const code = { code: '', portal, locator: 'l'.repeat(43), tokenKey: '', signInId: '' }
  await tokens.issue(code, { proof: 'p'.repeat(43), sealed: '' }, Infinity)
  await tokens.revoke(code, Infinity)
  t.strictSame(lifetimes, [30, 90])
})

t.test('the form of a code', async (t) => {
  const codes = authorizationCodes({} as Store, grantKeys(''), 60)
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
