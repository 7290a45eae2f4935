// What is derived from codes and tokens. Processes of two versions share a store: it must stay as it is.
import t from 'tap'
import { GrantKeys } from '../../lib/grants/keys.ts'
import type { Portal } from '../../lib/portal/portal.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'

const PORTAL: Portal = {
  loginUrl: 'https://p.example/login', clientId: 'p', clientSecret: ['old', 'new'], redirectUri: 'https://p.example/cb'
}
const CODE = 'c'.repeat(44)
const LOCATOR = 'l'.repeat(20)
const TOKEN = 't'.repeat(63)

const portalOf = (changes: Partial<Portal> = {}) => new RegisteredPortal({ ...PORTAL, ...changes })

// Made with OpenSSL: the one-step key derivation of NIST SP 800-56C section 4.1 is a hash of counter, secret and info.
// (printf '\0\0\0\1'; printf %s 'cc…authorization_code "p" /a') | openssl sha256 -binary | basenc --base64url
t.test('known values', async (t) => {
  const [keys, portal] = [new GrantKeys('/a'), portalOf()]
  t.strictSame(keys.ofCode(CODE, portal), { storageKey: 'xmS9IDi5vylBYAvJRx0E', locator: 'saHPAmFjKN5vwVDYh9h3' })
  t.equal(keys.ofToken(LOCATOR), 'zYvjXfWgEJvfHzRb7N90')
  t.strictSame(keys.sealingKeys(CODE, portal),
    ['7eqe1-Jyn4Q6goRgl6INzW1svh9mcBgW0PzWOAsyezI', 'O1gQifZOITqUfkhS7CQ67rOvuNIJXGOjmkynILg9ceI'])
  t.strictSame(keys.fingerprints('token', TOKEN, 'text', portal), ['4-P5SiwLOlpj_vEwnU0J', 'VyyYmW67mN3jWowDzldl'])
  t.strictSame(keys.fingerprints('code', TOKEN, 'text', portal), ['8A0I-tV1xI1CgJZWAPkn', 'dERv1G5e34DTiIq5OTf9'])
})

t.test('values that would read the same side by side are told apart', async (t) => {
  const keys = new GrantKeys('')
  const sealing = (changes: Partial<Portal>) => keys.sealingKeys(CODE, portalOf({ clientSecret: 'a', ...changes }))[0]
  t.not(sealing({ clientSecret: 'a"', clientId: 'b' }), sealing({ clientSecret: 'a', clientId: '"b' }))
  t.not(sealing({ clientId: 'a","b' }), sealing({ clientId: 'a', redirectUri: 'b","https://p.example/cb' }))
})
