// What is derived from a code. Processes of one version share a store: it must stay as it is. Whatever a value depends
// on is in these: another input, another purpose or another order gives another value.
import t from 'tap'
import { grantKeys } from '../../lib/grants/keys.ts'
import { registeredPortal } from '../../lib/portal/registered-portal.ts'

const CODE = 'c'.repeat(44)
const LOCATOR = 'l'.repeat(43)
const PROOF = 'p'.repeat(43)

// Made with OpenSSL: the one-step key derivation of NIST SP 800-56C section 4.1 is a hash of counter, secret and info.
// (printf '\0\0\0\1'; printf %s 'cc…cclocator 2 "p" /a') | openssl sha256 -binary | basenc --base64url
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
    proof: keys.proof(LOCATOR, credential),
    sealingKey: keys.sealingKey(PROOF, credential),
    ...keys.ofToken(LOCATOR)
  }, {
    codeKey: 'JgiWqudMd8AHJh6Z51ju',
    locator: 'Ks-Qj5tFPHlqlS26IWXm6NLaJiskk8JaevfGeZraw3g',
    proof: 'fkdGXY2rre_Igt303Lym0iEpl0UT2aevOlmxfqSdaLI',
    sealingKey: 'LZJaP-OaXyXZje2dQRQvQSoecKCIwlMNO98kpuN-k7k',
    tokenKey: '38iLH_gySptWGmCNDrVE',
    signInId: 'qtPMJobNR-0h3BWMBo-y'
  })
})
