// What is derived from a code. Processes of one version share a store: it must stay as it is. Whatever a value depends
// on is in these: another input, another purpose or another order gives another value.
import t from 'tap'
import { GrantKeys } from '../../lib/grants/keys.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'

const CODE = 'c'.repeat(44)
const LOCATOR = 'l'.repeat(43)

// Made with OpenSSL:
// printf %s '["locator",4,"/a","cc…cc","p"]' | openssl sha256 -binary | basenc --base64url
// printf %s '["proof and sealing key",4,"/a","ll…ll","p"]' | openssl dgst -sha512 -hmac old -binary | basenc --base16
t.test('known values', async (t) => {
  const keys = new GrantKeys('/a')
  const { information, secrets: [secret] } = new RegisteredPortal({
    loginUrl: 'https://p.example/login',
    clientId: 'p',
    clientSecret: ['old', 'new'],
    redirectUri: 'https://p.example/cb'
  })
  t.ok(secret)
  if (secret === undefined) return
  const { proof, sealingKey } = keys.ofSecret(secret, LOCATOR, information)
  t.strictSame({
    codeKey: keys.codeStorageKey(CODE, information),
    locator: keys.locator(CODE, information),
    tokenKey: keys.tokenStorageKey(LOCATOR),
    signInId: keys.signInId(LOCATOR),
    proof,
    sealingKey: sealingKey.export().toString('base64url')
  }, {
    codeKey: 'mMfBk4HjS4bi7fesipya',
    locator: 'Yeji9KyYMPI7VaWYyWYGQUK1aMZNacLEFE15FEuYSQU',
    tokenKey: 'ar_N87Oz575BjSExfNzD',
    signInId: 'rGGgGizF8-xXQdA2Ne3D',
    proof: 'y83CAj_ypbZq1baWOOfOz8fwU8bG46ISJYMvOTFcjCU',
    sealingKey: 'Tz8KaVYu_Nbn8joWo1UP9Lk_CynM4BHw7GqtR4RxkPI'
  })
})
