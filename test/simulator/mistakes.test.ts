// The classical mistakes of hosts: each is found, under its own name, and nothing else is blamed.
import t from 'tap'
import { failedRules, report } from '../helpers/program.ts'
import { listening, type Mistake } from '../helpers/spec-server.ts'

const HOOK = ['!sign-in', '!token.answer', '!token.no-session', '?token.client-challenge', '?token.error', '?token.error-codes']
const NO_TOKEN = ['!sign-in', '!token.answer']

const FOUND: Record<Exclude<Mistake, 'strict-cookie' | 'login-loses-prefix' | 'code-never-expires'>, string[]> = {
  'login-csp': ['!login.form-action'],
  'login-meta-csp': ['!login.form-action'],
  'login-loop': ['!login.page'],
  'login-elsewhere': [],
  'login-broken': ['!login.page'],
  'login-forgets': [],
  'login-http': ['!address.no-downgrade'],
  'auth-hook': [...HOOK, '?user.challenge'],
  'auth-hook-redirects': [...HOOK, '?user.challenge'],
  'csrf-hook': HOOK,
  cors: ['!authorize.cors'],
  'head-twins': ['?authorize.head', '?user.head'],
  cacheable: ['?authorize.no-store', '!token.no-store', '?user.no-store'],
  framable: ['?authorize.framing'],
  referrer: ['?authorize.referrer'],
  'any-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'prefix-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'any-client': ['!authorize.unknown-client'],
  'no-login-check': ['!authorize.login-needed'],
  'everyone-eligible': ['!authorize.eligibility', '?authorize.access-denied'],
  'refusal-without-redirect': ['?authorize.access-denied'],
  'state-changed': ['!sign-in', '!authorize.state'],
  'state-lost': ['!sign-in', '!authorize.state', '?authorize.access-denied', '?authorize.error-redirect'],
  'state-optional': ['?authorize.state-needed'],
  'any-response-type': ['!authorize.response-type', '?authorize.error-redirect'],
  'repeated-parameters': ['?authorize.repeated', '?token.repeated'],
  echo: ['!authorize.no-injection'],
  'permanent-redirect': ['?authorize.temporary-redirect'],
  'weak-code': ['!authorize.fresh-code'],
  'same-code': ['!authorize.fresh-code'],
  'any-secret': ['!token.wrong-secret', '?token.client-challenge', '?token.wrong-caller-burns-nothing'],
  'any-token-client': ['!token.unknown-client'],
  'reusable-code': ['!token.replayed-code', '!token.race', '?token.replay-revokes'],
  'racy-code': ['!token.race'],
  'any-token-redirect': ['!token.foreign-redirect-uri'],
  'any-grant': ['!token.grant-type'],
  'any-code': ['!token.unknown-code', '!token.replayed-code', '!token.race', '!token.access-token-as-code', '?token.error', '?token.replay-revokes'],
  'burns-code': ['?token.wrong-caller-burns-nothing'],
  'json-body': ['?token.form-only'],
  'url-credentials': ['?token.credentials-in-url'],
  'no-basic': ['?token.basic'],
  'no-pkce': ['?token.pkce'],
  'replay-leaves-token': ['?token.replay-revokes'],
  'html-token': NO_TOKEN,
  'text-token': NO_TOKEN,
  'lower-bearer': NO_TOKEN,
  'plain-errors': ['?token.client-challenge', '?token.error', '?token.error-codes'],
  'optional-parameters': ['!token.foreign-redirect-uri', '!token.missing-redirect-uri', '!token.missing-grant-type'],
  'code-is-token': ['!user.code-as-token'],
  'token-is-code': ['!token.access-token-as-code'],
  'reusable-token': ['!user.replayed-token', '!user.race'],
  'racy-token': ['!user.race'],
  'any-token': ['?token.replay-revokes', '!user.replayed-token', '!user.race', '!user.unknown-token', '!user.code-as-token', '?user.challenge'],
  'query-token': ['?user.header-only'],
  'no-challenge': ['?token.client-challenge', '?user.challenge'],
  'case-scheme': ['?user.scheme-case'],
  'wrong-role': ['!sign-in', '!user.record'],
  'extra-fields': ['?user.listed-fields'],
  'user-404': ['!sign-in', '!address.endpoints', '!user.record', '?user.challenge']
}

for (const [mistake, expected] of Object.entries(FOUND)) {
  await t.test(mistake, async (t) => {
    const { baseUrl, ineligible } = await listening(t, { mistakes: [mistake as Mistake] })
    const result = await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax', '--ineligible-cookie', ineligible])
    t.strictSame(failedRules(result), expected)
    t.equal(result.code, expected.some((id) => id.startsWith('!')) ? 1 : 0)
  })
}

await t.test('login-loses-prefix', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['login-loses-prefix'], prefix: '/app' })
  const result = await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax'])
  t.strictSame(failedRules(result), ['!login.return'])
})

await t.test('code-never-expires', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['code-never-expires'], lifetime: 0.1 })
  const result = await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax', '--code-lifetime', '0'])
  t.strictSame(failedRules(result), ['!token.code-lifetime'])
})

await t.test('a proxy that strips the path: the check says where the endpoints answer', async (t) => {
  const { baseUrl } = await listening(t)
  const result = await report(`${baseUrl}/app`, ['--cookie', 'sid=ada; SameSite=Lax'])
  const endpoints = result.rules.find(({ id }) => id === 'address.endpoints')
  t.match(endpoints, { outcome: 'fail', got: /^GET \/app\/oauth\/authorize: 404/, fix: `Something answers at ${baseUrl}/oauth/authorize` })
  t.equal(result.code, 1)
})
