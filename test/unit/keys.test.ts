// What is derived from a code. Processes of one version share a store: it must stay as it is.
import t from 'tap'
import { GrantKeys } from '../../lib/grants/keys.ts'
import type { Portal } from '../../lib/portal/portal.ts'
import { RegisteredPortal } from '../../lib/portal/registered-portal.ts'

const PORTAL: Portal = {
  loginUrl: 'https://p.example/login', clientId: 'p', clientSecret: ['old', 'new'], redirectUri: 'https://p.example/cb'
}
const CODE = 'c'.repeat(44)
const LOCATOR = 'l'.repeat(43)
const PROOF = 'p'.repeat(43)

const portalOf = (changes: Partial<Portal> = {}) => new RegisteredPortal({ ...PORTAL, ...changes })

/** All that is derived, by its name. Each is derived from the inputs of its row alone: they are fixed here. */
function derived (scope: string, changes: Partial<Portal> = {}, [code, locator, proof] = [CODE, LOCATOR, PROOF]) {
  const [keys, portal] = [new GrantKeys(scope), portalOf(changes)]
  const [credential = ''] = portal.credentials
  return {
    codeKey: keys.codeKey(code, portal),
    locator: keys.locator(code, portal),
    proof: keys.proof(locator, credential),
    sealingKey: keys.sealingKey(proof, credential),
    tokenKey: keys.tokenKey(locator),
    signInId: keys.signInId(locator)
  }
}

// Made with OpenSSL: the one-step key derivation of NIST SP 800-56C section 4.1 is a hash of counter, secret and info.
// (printf '\0\0\0\1'; printf %s 'cc…cclocator 2 "p" /a') | openssl sha256 -binary | basenc --base64url
t.test('known values', async (t) => {
  t.strictSame(derived('/a'), {
    codeKey: 'JgiWqudMd8AHJh6Z51ju',
    locator: 'Ks-Qj5tFPHlqlS26IWXm6NLaJiskk8JaevfGeZraw3g',
    proof: 'fkdGXY2rre_Igt303Lym0iEpl0UT2aevOlmxfqSdaLI',
    sealingKey: 'LZJaP-OaXyXZje2dQRQvQSoecKCIwlMNO98kpuN-k7k',
    tokenKey: '38iLH_gySptWGmCNDrVE',
    signInId: 'bvWWfqh1J_swVDJ-v1HI'
  })
})

t.test('each value depends on each of its inputs, and on nothing else', async (t) => {
  const all = ['codeKey', 'locator', 'proof', 'sealingKey', 'tokenKey', 'signInId']
  const changes: Array<[name: string, other: ReturnType<typeof derived>, changed: string[]]> = [
    ['code', derived('/a', {}, ['d'.repeat(44), LOCATOR, PROOF]), ['codeKey', 'locator']],
    ['locator', derived('/a', {}, [CODE, 'm'.repeat(43), PROOF]), ['proof', 'tokenKey', 'signInId']],
    ['proof', derived('/a', {}, [CODE, LOCATOR, 'q'.repeat(43)]), ['sealingKey']],
    ['prefix', derived('/b'), all],
    ['client_id', derived('/a', { clientId: 'q' }), ['codeKey', 'locator', 'proof', 'sealingKey']],
    ['secret', derived('/a', { clientSecret: 'other' }), ['proof', 'sealingKey']],
    ['redirectUri', derived('/a', { redirectUri: 'https://p.example/other' }), ['codeKey']],
    ['loginUrl', derived('/a', { loginUrl: 'https://p.example/other' }), ['codeKey']],
    ['level', derived('/a', { level: 'client' }), ['codeKey']]
  ]
  const before = derived('/a')
  for (const [name, other, changed] of changes) {
    const differing = all.filter((value) => Reflect.get(other, value) !== Reflect.get(before, value))
    t.strictSame(differing, changed, name)
  }
  t.equal(new Set(Object.values(derived('/a', {}, [LOCATOR, LOCATOR, LOCATOR]))).size, 6, 'one purpose each')
})

t.test('one sealing key for each secret', async (t) => {
  const [keys, portal] = [new GrantKeys('/a'), portalOf()]
  t.strictSame(keys.sealingKeys(LOCATOR, portal), portal.credentials.map((credential) =>
    keys.sealingKey(keys.proof(LOCATOR, credential), credential)))
})

t.test('values that are equal when joined have different keys', async (t) => {
  const different = (one: Partial<Portal>, other: Partial<Portal>) => {
    for (const name of ['codeKey', 'proof', 'sealingKey'] as const) {
      t.not(derived('', one)[name], derived('', other)[name], name)
    }
  }
  different({ clientSecret: 'a"', clientId: 'b' }, { clientSecret: 'a', clientId: '"b' })
  different({ clientSecret: 'b', clientId: 'a","' }, { clientSecret: '","b', clientId: 'a' })
  t.not(derived(' /a', { clientId: 'p' }).locator, derived('/a', { clientId: 'p" ' }).locator)
})
