// What is derived from a code. Processes of one version share a store: it must stay as it is. Whatever a value depends
// on is in these: another input, another purpose or another order gives another value.
import t from 'tap'
import { grantKeys } from '../../lib/grants/keys.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'

const CODE = 'c'.repeat(44)
const LOCATOR = 'l'.repeat(43)

// Made with OpenSSL: the one-step key derivation of NIST SP 800-56C section 4.1 is a hash of counter, secret and info.
// (printf '\0\0\0\1'; printf %s 'cc…cclocator 3 "p" /a') | openssl sha256 -binary | basenc --base64url
t.test('known values', async (t) => {
  const keys = grantKeys('/a')
  const portal = registeredPortal({
    loginUrl: 'https://p.example/login',
    clientId: 'p',
    clientSecret: ['old', 'new'],
    redirectUri: 'https://p.example/cb'
  })
  const [credential = ''] = portal.credentials
  t.strictSame({
    codeKey: keys.codeKey(CODE, portal),
    locator: keys.locator(CODE, portal),
    ...keys.ofSecret(LOCATOR, credential),
    ...keys.ofToken(LOCATOR)
  }, {
    codeKey: '2mEmggeb8SPx36-Gqdt8',
    locator: 'qFLVhDHisfCUtz3l57Gju232Is_Iluk8FN_yyPvWB7E',
    proof: 'duP0cSYNWDIuPtaou87g0hWI4LNnZzbNaVE7LkIBT_Q',
    sealingKey: 'b6VoSS1j6cFz0JEXBcD_Urx9j2CoH8Tj1Bsb8e1yG4w',
    tokenKey: 'aI61HLmJQ1p5_w6ntIP5',
    signInId: 'd0mV42p2xCBZ4MOuWxQa'
  })
})
