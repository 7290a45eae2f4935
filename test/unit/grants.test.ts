// How a code is made, and how long a revocation lasts. The form of a token: attacks/authorization-header. What somebody
// can do who writes to the store: contract/checks/store, attacks/hostile-store.
import * as crypto from 'node:crypto'
import t from 'tap'
import type { AuthorizationCodes } from '../../lib/grants/authorization-code.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import type { Store } from '../../lib/index.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'
import { MemoryStore } from '../../lib/stores/memory.ts'
import { PORTAL, RECORDS, startApp } from '../app.ts'
import { lib } from '../helpers/lib.ts'
import { wire } from '../wire.ts'

const portal = new RegisteredPortal(PORTAL)

t.test('each code is 33 bytes that the system draws when it is issued', async (t) => {
  const drawn: string[] = []
  const randomBytes = (length: number) => {
    const bytes = crypto.randomBytes(length)
    drawn.push(bytes.toString('base64url'))
    return bytes
  }
  const mocked = await t.mockImport<{ AuthorizationCodes: typeof AuthorizationCodes }>(
    lib('grants/authorization-code.ts'), { 'node:crypto': { ...crypto, randomBytes } }
  )
  const codes = new mocked.AuthorizationCodes(new MemoryStore(100), new GrantKeys(''), 60)
  for (const time of ['first', 'second', 'third']) {
    drawn.length = 0
    const { code } = await codes.issue(portal, { codeChallenge: '', record: RECORDS.ada }, Infinity)
    t.strictSame(drawn, [code], time)
    t.equal(code.length, 44, time)
  }
})

t.test('the store is given the lifetimes: a revocation outlives the token by a minute', async (t) => {
  const memory = new MemoryStore(10)
  const lifetimes: number[] = []
  const store: Store = {
    async put (key, value, lifetime) {
      lifetimes.push(lifetime)
      return await memory.put(key, value, lifetime)
    },
    take: (key) => memory.take(key),
    async revoke (key, lifetime) {
      lifetimes.push(lifetime)
      return await memory.revoke(key, lifetime)
    }
  }
  const { url } = await startApp(t, { options: { store, codeLifetime: 50, tokenLifetime: 30 } })
  lifetimes.length = 0
  const at = wire(url)
  const code = await at.code()
  t.equal((await at.token({ code })).status, 200)
  t.equal((await at.token({ code })).status, 400)
  t.strictSame(lifetimes, [50, 30, 90])
})
