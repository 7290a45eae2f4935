// How a code is made, and how long a revocation lasts. The form of a token: attacks/authorization-header. What somebody
// can do who writes to the store: contract/checks/store, attacks/hostile-store.
import * as crypto from 'node:crypto'
import t from 'tap'
import { accessTokens } from '../../lib/grants/access-token.ts'
import type { authorizationCodes } from '../../lib/grants/authorization-code.ts'
import { grantKeys } from '../../lib/grants/keys.ts'
import type { Store } from '../../lib/index.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'
import { PORTAL, recordOf } from '../helpers/host.ts'
import { lib } from '../helpers/lib.ts'

const portal = registeredPortal(PORTAL)

/** A store that notes the lifetimes that it is given. */
const noting = (lifetimes: number[]): Store => ({
  async put (_key, _value, lifetime) { return lifetimes.push(lifetime) > 0 },
  async take () { return null },
  async revoke (_key, lifetime) {
    lifetimes.push(lifetime)
    return null
  }
})

t.test('a code is 33 bytes that the system drew, and that no other code has', async (t) => {
  const draws: Buffer[] = []
  const randomBytes = (length: number) => {
    draws.push(crypto.randomBytes(length))
    return draws.at(-1)
  }
  const mocked = await t.mockImport<{ authorizationCodes: typeof authorizationCodes }>(
    lib('grants/authorization-code.ts'), { 'node:crypto': { ...crypto, randomBytes } }
  )
  const codes = mocked.authorizationCodes(noting([]), grantKeys(''), 60)
  const issued: string[] = []
  while (draws.length < 3) {
    issued.push((await codes.issue(portal, { codeChallenge: '', record: recordOf('u-1') }, Infinity)).code)
  }
  const drawn = Buffer.concat(draws.slice(0, 2)).toString('base64url').match(/.{44}/g)
  t.strictSame(issued.slice(0, -1).sort(), drawn?.sort())
})

t.test('a revocation outlives the token by a minute', async (t) => {
  const lifetimes: number[] = []
  const tokens = accessTokens(noting(lifetimes), grantKeys(''), 60, 30)
  const code = { code: '', portal, locator: 'l'.repeat(43), tokenKey: '', signInId: '' }
  await tokens.issue(code, { proof: 'p'.repeat(43), sealed: '' }, Infinity)
  await tokens.revoke(code, Infinity)
  t.strictSame(lifetimes, [30, 90])
})
