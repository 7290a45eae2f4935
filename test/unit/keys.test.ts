// What is derived from codes and tokens: the one-step key derivation of NIST SP 800-56C section 4.1, which is
// H(counter || secret || info) with SHA-256 and the counter 1 in four bytes.
import { createHash } from 'node:crypto'
import t from 'tap'
import { GrantKeys } from '../../lib/grants/keys.ts'
import type { Portal } from '../../lib/options/portal.ts'
import { RegisteredPortal } from '../../lib/portal.ts'

const PORTAL: Portal = {
  loginUrl: 'https://p.example/login', clientId: 'p', clientSecret: ['old', 'new'], redirectUri: 'https://p.example/cb'
}
const BINDING = '["https://p.example/cb","https://p.example/login","partner"]'
const CODE = 'c'.repeat(44)
const LOCATOR = 'l'.repeat(20)
const TOKEN = 't'.repeat(63)

const portalOf = (changes: Partial<Portal> = {}) => new RegisteredPortal({ ...PORTAL, ...changes })
const block = (text: string) => createHash('sha256').update(Buffer.from([0, 0, 0, 1])).update(text).digest('base64url')

t.test('each key is a part of the documented hash', async (t) => {
  const [keys, portal] = [new GrantKeys('/a'), portalOf()]
  const names = block(`${CODE}authorization_code "p" /a`)
  t.strictSame(keys.ofCode(CODE, portal), { storageKey: names.slice(0, 20), locator: names.slice(20, 40) })
  t.equal(keys.ofToken(LOCATOR), block(`${LOCATOR}access_token  /a`).slice(0, 20))
  const secrets = ['old', 'new']
  t.strictSame(keys.sealingKeys(CODE, portal),
    secrets.map((secret) => block(`${CODE}sealing ["p","${secret}"]${BINDING} /a`).slice(0, 43)))
  for (const kind of ['code', 'token'] as const) {
    t.strictSame(keys.fingerprints(kind, TOKEN, 'text', portal),
      secrets.map((secret) => block(`${TOKEN}${kind}_fingerprint ["p","${secret}"]text /a`).slice(0, 20)))
  }
})

t.test('what each of them is bound to, and what it is not', async (t) => {
  const of = (keys: GrantKeys, changes: Partial<Portal> = {}, text = 'a', code = CODE, token = TOKEN) => {
    const portal = portalOf({ clientSecret: 'hush', ...changes })
    return {
      ...keys.ofCode(code, portal),
      token: keys.ofToken(token.slice(0, 20)),
      sealing: keys.sealingKeys(code, portal)[0],
      fingerprint: keys.fingerprints('token', token, text, portal)[0]
    }
  }
  const plain = of(new GrantKeys(''))
  const changed = (other: typeof plain) =>
    Object.keys(plain).filter((name) => plain[name as 'token'] !== other[name as 'token'])
  const keys = new GrantKeys('')
  const ofCode = ['storageKey', 'locator', 'sealing']
  t.strictSame(changed(of(new GrantKeys('/a'))), [...ofCode.slice(0, 2), 'token', 'sealing', 'fingerprint'])
  t.strictSame(changed(of(keys, { clientId: 'q' })), [...ofCode, 'fingerprint'])
  const changes = [{ redirectUri: 'https://p.example/x' }, { loginUrl: 'https://p.example' }, { level: 'client' }]
  for (const change of changes) {
    t.strictSame(changed(of(keys, change as Partial<Portal>)), ['sealing'], 'a replay finds the token all the same')
  }
  t.strictSame(changed(of(keys, { clientSecret: 'other' })), ['sealing', 'fingerprint'])
  t.strictSame(changed(of(keys, {}, 'b')), ['fingerprint'])
  t.strictSame(changed(of(keys, {}, 'a', `${CODE.slice(1)}d`)), ofCode)
  t.strictSame(changed(of(keys, {}, 'a', CODE, `${TOKEN.slice(1)}u`)), ['fingerprint'], 'beyond the locator')
})

t.test('values that would read the same side by side are told apart', async (t) => {
  const keys = new GrantKeys('')
  const sealing = (changes: Partial<Portal>) => keys.sealingKeys(CODE, portalOf({ clientSecret: 'a', ...changes }))[0]
  t.not(sealing({ clientSecret: 'a"', clientId: 'b' }), sealing({ clientSecret: 'a', clientId: '"b' }))
  t.not(sealing({ clientId: 'a","b' }), sealing({ clientId: 'a', redirectUri: 'b","https://p.example/cb' }))
})
