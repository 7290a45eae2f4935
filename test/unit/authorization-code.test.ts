// Codes against a store that breaks its promises, or that somebody else writes to.
import t from 'tap'
import type { Test } from 'tap'
import { AuthorizationCodes, isAuthorizationCode } from '../../lib/grants/authorization-code.ts'
import type { Grant } from '../../lib/grants/grant.ts'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { open } from '../../lib/grants/sealing.ts'
import type { Portal } from '../../lib/options/portal.ts'
import { RegisteredPortal } from '../../lib/portal.ts'
import { PORTAL } from '../helpers/host.ts'
import { OneValue } from '../helpers/one-value.ts'

// Long enough not to occur by chance.
const user = {
  codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  externalId: 'user-of-the-partner',
  record: '{"external_id":"user-of-the-partner"}'
}
const portalOf = (changes: Partial<Portal> = {}) => new RegisteredPortal({ ...PORTAL, ...changes })
const portal = portalOf()

/** A code in a store that gives its value to whoever asks. */
async function issued (changes: Partial<Portal> = {}, prefix = '') {
  const store = new OneValue()
  const codes = new AuthorizationCodes(store, new GrantKeys(prefix), 60)
  const code = await codes.issue(portalOf(changes), user, Infinity)
  const redeem = async (changes: Partial<Portal> = {}): Promise<Grant | undefined> =>
    (await codes.redeem(code, portalOf(changes), Infinity))?.grant
  return { store, codes, code, redeem }
}

/** Sets the clock of the server, in seconds after now. */
function setClock (t: Test, seconds: number): void {
  const time = Date.now() + seconds * 1000
  t.intercept(Date, 'now', { value: () => time })
}

t.test('a redeemed code represents what it was issued for, and hands on the sealed grant', async (t) => {
  const { store, codes, code } = await issued()
  const { grant, locator, sealingKey, sealed } = await codes.redeem(code, portal, Infinity) ?? t.fail() as never
  t.match(grant, { clientId: PORTAL.clientId, level: 'partner', ...user })
  t.equal(locator, new GrantKeys('').ofCode(code, portal).locator)
  t.match(open(sealingKey, sealed), user.record)
  t.equal(store.lifetime, 60)
})

t.test('it is bound to the code and to everything of the portal, a secret of it included', async (t) => {
  const { store, codes, code, redeem } = await issued()
  const others: Array<Partial<Portal>> = [
    { clientSecret: 'another' }, { clientId: 'b' }, { redirectUri: 'https://p.example/x' },
    { loginUrl: 'https://p.example/x' }, { level: 'client' }
  ]
  for (const other of others) t.equal(await redeem(other), undefined, JSON.stringify(other))
  t.equal(await codes.redeem(`${code.slice(1)}${code[0] === 'A' ? 'B' : 'A'}`, portal, Infinity), null)
  const elsewhere = new AuthorizationCodes(store, new GrantKeys('/b'), 60)
  t.equal(await elsewhere.redeem(code, portal, Infinity), null, 'another prefix')
  t.ok(await redeem())
})

t.test('[old], [old, new], [new, old], [new]: no code is lost between two that share a secret', async (t) => {
  const stages = [['old'], ['old', 'new'], ['new', 'old'], ['new']]
  for (const before of stages) {
    const { redeem } = await issued({ clientSecret: before })
    for (const after of stages) {
      const shared = before.some((secret) => after.includes(secret))
      t.equal(await redeem({ clientSecret: after }) !== undefined, shared, `${before.join()} to ${after.join()}`)
    }
  }
})

t.test('a value that is written back later is worth nothing', async (t) => {
  const { redeem } = await issued()
  await t.test('up to five minutes beyond the lifetime', async (t) => {
    setClock(t, 60 + 299)
    t.ok(await redeem())
  })
  setClock(t, 60 + 301)
  t.equal(await redeem(), undefined)
})

t.test('a value that no process with the secret has made: refused', async (t) => {
  const { store, redeem } = await issued()
  const other = await issued()
  const { value } = store
  for (const forged of ['', 'x', value.slice(0, -1), value.replace('1_', '2_'), `${value}AAAA`, other.store.value]) {
    store.value = forged
    t.equal(await redeem(), undefined, forged)
  }
  store.value = value
  t.ok(await redeem())
})

t.test('neither the code nor the store shows the code, the user or the challenge', async (t) => {
  const { store: { key, value }, code } = await issued()
  const { codeChallenge, externalId } = user
  const hidden = [externalId, codeChallenge, Buffer.from(codeChallenge, 'base64url').toString('latin1')]
  for (const text of [code, key, value]) {
    for (const form of [text, Buffer.from(text, 'base64url').toString('latin1')]) {
      for (const part of text === code ? hidden : [...hidden, code]) t.notOk(form.includes(part))
    }
  }
})

t.test('a code is not given out when the store says that it held its key before', async (t) => {
  const store = Object.assign(new OneValue(), { put: async () => false })
  const codes = new AuthorizationCodes(store, new GrantKeys(''), 60)
  t.match(await codes.issue(portal, user, Infinity).catch((error: unknown) => error), {
    name: 'OAuthError',
    reason: 'internal_error',
    context: { cause: 'The store says that it holds a key that was never used' }
  })
})

t.test('the form of a code', async (t) => {
  const { code } = await issued()
  t.ok(isAuthorizationCode(code))
  for (const other of ['', code.slice(1), `${code}A`, `${code.slice(1)}=`, `${code.slice(1)}!`, `${code}\n`]) {
    t.notOk(isAuthorizationCode(other), other)
  }
})
