// Parts of rules that no service of the other tests reaches: codes of other kinds, responses without a type, services
// that are too slow.
import { createHmac, hash } from 'node:crypto'
import t from 'tap'
import type { Edit } from '../../lib/flow/legs.ts'
import { parseGiven } from '../../lib/flow/cookies.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import type { Exchange } from '../../lib/flow/wire.ts'
import { forgeries } from '../../lib/simulator/rules/forgeries.ts'
import { originOf, weaknessOf } from '../../lib/simulator/rules/guessable.ts'
import { withCode, mustSucceed } from '../../lib/simulator/rules/in-time.ts'
import { MADE_RULES } from '../../lib/simulator/rules/made-rules.ts'
import { nearestUris, respelt } from '../../lib/simulator/rules/nearest.ts'
import { INJECTION, reflectionIn } from '../../lib/simulator/rules/reflections.ts'
import { expectNoRedirect, refusesEach } from '../../lib/simulator/rules/refusals.ts'
import type { Rule } from '../../lib/simulator/rules/rule.ts'
import { SEEN_RULES } from '../../lib/simulator/rules/seen-rules.ts'
import { Service } from '../../lib/simulator/rules/service.ts'
import { USER_RULES } from '../../lib/simulator/rules/user-rules.ts'
import { REDIRECT_URI, SETTINGS } from '../helpers/service.ts'

const base64url = (text: string): string => Buffer.from(text).toString('base64url')
const text = (encoded: string): string => Buffer.from(encoded, 'base64url').toString()

const exchangeOf = (status: number, body: string, headers: Array<[string, string]> = []): Exchange => ({
  request: { method: 'POST', url: 'http://127.0.0.1:1/oauth/token', headers: [], body: '' },
  response: { status, headers, body },
  milliseconds: 1
} as unknown as Exchange)

const refused = {
  exchange: exchangeOf(400, '{"error":"invalid_grant"}'), reading: { ok: false, got: '400 invalid_grant', fix: '' }
} as const
const accepted = { exchange: exchangeOf(200, '{"access_token":"t"}'), reading: { ok: true, value: 't' } } as const

function ruleOf (rules: readonly Rule[], id: string): Rule['test'] {
  const rule = rules.find((rule) => rule.id === id)
  if (rule === undefined) throw new Error(`There is no rule ${id}`)
  return rule.test
}

const serviceOf = (parts: object): Service => parts as unknown as Service

await t.test('a code that is readable text, not JSON: its last character is changed, a digit to a digit', async (t) => {
  const changed = (plain: string) => forgeries(base64url(plain)).map(({ value }) => text(value))
  t.strictSame(changed('user-1-1712'), ['user-1-1713'])
  t.strictSame(changed('user-1-1719'), ['user-1-1710'])
  const [other = ''] = changed('user-1-abc')
  t.match(other, /^user-1-ab[^c]$/)
  t.strictSame(forgeries('\x00'.repeat(8)), [])
  const hex = (plain: string) => Buffer.from(plain).toString('hex')
  for (const spelt of [hex('user-/-1712'), hex('user-/-1712').toUpperCase()]) {
    const [edited = ''] = forgeries(spelt).map(({ value }) => value)
    t.equal(Buffer.from(edited, 'hex').toString(), 'user-/-1713', spelt)
    t.equal(/[a-f]/.test(edited), /[a-f]/.test(spelt), `spelt as before: ${spelt}`)
  }
  for (const json of ['1712', 'null']) t.equal(changed(json).length, 1, `JSON without members is a text: ${json}`)
})

await t.test('another spelling of a code is the same code for a decoder, at each length', (t) => {
  for (let length = 16; length <= 33; length++) {
    for (const byte of [0x00, 0x5a, 0xfb, 0xff]) {
      const code = Buffer.alloc(length, byte).toString('base64url')
      const others = respelt(code).filter(({ how }) => /=|unused bit|Base64|dot/.test(how))
      // Without an unused bit, a change of the last one makes another code.
      const decoded = others.filter(({ how }) => length % 3 > 0 || !how.includes('unused bit'))
      t.ok(others.length >= 4 && others.every(({ value }) => value !== code), `${length} of ${byte}`)
      for (const { how, value } of decoded) {
        const bytes = Buffer.from(value.replace(/\.$/, ''), 'base64url')
        t.strictSame(bytes, Buffer.alloc(length, byte), `${length}: ${how}`)
      }
    }
  }
  t.end()
})

await t.test('a forged JWT keeps all of its header but what is forged', (t) => {
  const header = { alg: 'RS256', typ: 'at+jwt', kid: 'key-1', jku: '/keys', crit: ['x'], x: { y: 1 } }
  const forged = forgeries(`${base64url(JSON.stringify(header))}.${base64url('{"sub":"u"}')}.c2lnbmF0dXJl`)
    .filter(({ how }) => how.startsWith('as a JWT')).map(({ value }) => JSON.parse(text(value.split('.')[0] ?? '')))
  const algorithms = ['RS256', 'none', 'None', 'NONE', ...Array.from({ length: 8 }, () => 'HS256')]
  t.strictSame(forged, algorithms.map((alg) => ({ ...header, alg })))
  t.end()
})

await t.test('a code that was edited: refused, or accepted', async (t) => {
  const test = ruleOf(MADE_RULES, 'token.forged-code')
  const secrets = new Set<string>()
  const service = (leg: object) => serviceOf({
    secrets, code: async () => ({ code: base64url('user-1-1712'), verifier: undefined }), redeem: async () => leg
  })
  await test(service(refused))
  t.strictSame([...secrets].map(text), ['user-1-1713'], 'it is masked')
  await t.rejects(test(service(accepted)), { message: /^the code with another last character/ })
})

await t.test('where values were made of known text, plain or encoded', async (t) => {
  for (const value of ['ada@partner.example', base64url('ada@partner.example'), 'elpmaxe.rentrap@ada']) {
    t.equal(originOf(value, ['ada@partner.example'], Date.now()), 'it is known text', value)
  }
  t.equal(originOf('Zr0PmR6yGq1mYk2sHcXw', ['ada@partner.example'], Date.now()), null)
  const encoded = ['a', 'b', 'c'].map((user, count) => base64url(`user-${user}-${1000 + count}`))
  t.not(weaknessOf(encoded, encoded.map(() => ['user-'])), null)
})

await t.test('where values are hashes of known text, a number, a time, or two of them in any order', async (t) => {
  const now = 1_800_000_000_000
  t.intercept(Date, 'now', { value: () => now })
  const [text, other] = ['ada@partner.example', 'the-client']
  const times = [String(now), String(now - 5), String(now / 1000)]
  const pairs = (one: string, two: string) => ['', ':', '-', '_', '.', '|'].flatMap((separator) =>
    [one + separator + two, two + separator + one])
  const sources = {
    'known text': [text, other],
    'a number': ['0', '2999'],
    'the time': times,
    'known texts': pairs(text, other),
    'known text and the time': times.flatMap((time) => pairs(other, time))
  }
  const origin = (value: string) => originOf(value, [text, other], now - 5)
  for (const [source, made] of Object.entries(sources)) {
    for (const one of made) t.equal(origin(hash('sha256', one, 'base64url')), `it is the hash of ${source}`, one)
  }
  for (const name of ['md5', 'sha1', 'sha256', 'sha512']) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      t.equal(origin(hash(name, other, encoding)), 'it is the hash of known text', `${name} ${encoding}`)
      t.match(origin(createHmac(name, text).update(other).digest(encoding)), 'the HMAC', `HMAC ${name} ${encoding}`)
    }
  }
})

await t.test('the nearest redirect_uris with whatever a URL parser takes away', async (t) => {
  const port = 'with the default port'
  const always = [
    'with /x/../', 'with /./', 'with an encoded /x/../', 'with a scheme in capitals', 'with a host in capitals',
    'with a space in front', 'with a space at the end', 'with a line break at the end'
  ]
  for (const [registered, more] of [
    ['http://localhost/callback', [port]],
    ['https://portal.example/oauth/callback?tenant=1', [port]],
    ['https://portal.example:8443/callback', []]
  ] as const) {
    const same = nearestUris(registered).filter(({ value }) =>
      URL.canParse(value) && new URL(value).href === new URL(registered).href)
    t.strictSame(same.map(({ how }) => how).sort(), [...always, ...more].sort(), registered)
  }
})

await t.test('a redirect_uri that ends with a slash: the nearest one has none', async (t) => {
  for (const [registered, nearest] of [
    ['https://portal.example/callback/', 'https://portal.example/callback'],
    ['https://portal.example/callback', 'https://portal.example/callback/']
  ] as const) {
    const uris = nearestUris(registered).map(({ value }) => value)
    t.ok(uris.includes(nearest), registered)
    t.notOk(uris.includes(registered), registered)
  }
})

await t.test('the script of a request in a response: a page without a type is one', async (t) => {
  const page = (type: Array<[string, string]>) => reflectionIn(exchangeOf(400, `<p>${INJECTION}</p>`, type))
  for (const type of ['text/html; charset=utf-8', 'application/xhtml+xml']) {
    t.match(page([['content-type', type]]), 'a page with the script', type)
  }
  t.match(page([]), 'a page with the script')
  for (const before of [0, 1, 500, 4000, 5000]) {
    const long = `${'x'.repeat(before)}<input value="q1"">${'x'.repeat(10_000)}`
    t.match(reflectionIn(exchangeOf(400, long, [['content-type', 'text/html']])), 'ends an attribute', String(before))
  }
  t.equal(page([['content-type', 'application/json']]), null)
  t.match(page([['x-injected', '1']]), 'a header from the request')
  t.equal(reflectionIn({ request: refused.exchange.request, milliseconds: 1 } as Exchange), null, 'no response')
})

await t.test('what was given and identifies somebody is hidden', (t) => {
  const login = (name: string) => ({
    cookies: parseGiven(`sid=cookie-of-${name}`), headers: [['Authorization', `Custom word-of-${name}`]] as const
  })
  const second = { clientId: 'partner-456', clientSecret: 'the-second-secret' }
  const service = new Service(createIntegration({ baseUrl: 'http://localhost', ...SETTINGS }), {
    user: login('ada'), ineligible: login('eve'), second
  })
  const users = ['ada', 'eve'].flatMap((name) => [`cookie-of-${name}`, `Custom word-of-${name}`, `word-of-${name}`])
  for (const secret of [...users, second.clientSecret, SETTINGS.clientSecret]) {
    t.notMatch(service.secrets.mask(`<${secret}>`), secret, secret)
  }
  t.end()
})

await t.test('what a rule cannot judge', async (t) => {
  const unexpected = new Error('It broke')
  await t.rejects(refusesEach([{ how: 'the code cut' }], async () => { throw unexpected }), unexpected)
  const exchange = exchangeOf(302, '', [['location', 'http://127.0.0.1:1/login']])
  const service = serviceOf({
    hasUser: false,
    integration: { redirectUri: 'https://portal.example/callback' },
    authorize: async () => ({ exchange, location: null })
  })
  const asked = expectNoRedirect(service, { state: undefined })
  await t.rejects(asked, { message: /^the service asks for a login first: 302/ })
})

await t.test('a service that is so slow that its codes expire on the way: three rounds, then no verdict', async (t) => {
  let rounds = 0
  const test = withCode(async () => {
    rounds++
    return mustSucceed(refused as unknown as Parameters<typeof mustSucceed>[0])
  })
  const slow = serviceOf({ issuedCode: async () => ({ value: {}, milliseconds: 2000 }) })
  await t.rejects(test(slow), { message: /^the service is so slow that the code may have expired: 400/ })
  t.equal(rounds, 3)
  const fast = serviceOf({ issuedCode: async () => ({ value: {}, milliseconds: 0 }) })
  await t.rejects(test(fast), { message: '400 invalid_grant' })
})

await t.test('tokens that end in another character than those of base64url', async (t) => {
  const test = ruleOf(USER_RULES, 'user.respelt-token')
  const sent: string[] = []
  await test(serviceOf({
    issuedToken: async () => ({ value: 'abc.', milliseconds: 0 }),
    accessToken: async () => 'abc.',
    user: async (_token: string, edit?: Edit) => {
      const { headers } = edit?.({ method: 'GET', url: '', headers: [] }) ?? { headers: [] }
      sent.push(String(headers[0]?.[1]))
      return sent.length === 1 ? accepted : refused
    }
  }))
  t.ok(sent.includes('Bearer ABC.'))
})

await t.test('a user endpoint that refuses a token for its parameters', async (t) => {
  const test = ruleOf(USER_RULES, 'user.parameters')
  const service = serviceOf({
    record: {}, issuedToken: async () => ({ value: 'token', milliseconds: 0 }), user: async () => refused
  })
  await t.rejects(test(service), { message: /^with external_id=somebody-else: / })
})

await t.test('each character of error and error_description, in a body and in a redirect', async (t) => {
  const test = ruleOf(SEEN_RULES, 'service.error-characters')
  const isGood = async (exchange: Exchange) => {
    try {
      await test(serviceOf({ seen: [exchange] }))
      return true
    } catch {
      return false
    }
  }
  for (let code = 0; code <= 0x100; code++) {
    const character = String.fromCharCode(code)
    const isAllowed = code >= 0x20 && code <= 0x7e && character !== '"' && character !== '\\'
    for (const name of ['error', 'error_description']) {
      const parameters = new URLSearchParams({ state: 's', [name]: `a${character}b` })
      const inBody = exchangeOf(400, JSON.stringify(Object.fromEntries(parameters)))
      const inRedirect = exchangeOf(302, '', [['Location', `${REDIRECT_URI}?${parameters}`]])
      t.strictSame([await isGood(inBody), await isGood(inRedirect)], [isAllowed, isAllowed], `${name}: ${code}`)
    }
  }
})
