// The classical mistakes of hosts: each is found, under its own name, and nothing else is blamed.
import t from 'tap'
import { failedRules, report } from '../helpers/program.ts'
import { listening, type Mistake } from '../helpers/spec-server.ts'

type Elsewhere = 'strict-cookie' | 'login-loses-prefix' | 'code-never-expires'

/** The rules that fail: `!` for what must not be, `?` for advice. What only follows from a cause is not listed. */
const FOUND: Record<Exclude<Mistake, Elsewhere>, string[]> = {
  'login-csp': ['!login.form-action'],
  'login-meta-csp': ['!login.form-action'],
  'login-loop': ['!login.page'],
  'login-404': ['!login.page'],
  'login-elsewhere': [],
  'login-broken': ['!login.page'],
  'login-forgets': ['!login.return'],
  'login-form-forgets': ['!login.return'],
  'login-http': ['?address.no-downgrade'],
  'auth-hook': ['!token.hook'],
  'auth-hook-redirects': ['!token.hook'],
  'csrf-hook': ['!token.hook'],
  'user-hook': ['!user.hook'],
  'body-read': ['!token.body'],
  spa: ['!address.endpoints'],
  cors: ['!authorize.cors'],
  'cors-options': ['!authorize.cors'],
  'head-twins': ['?authorize.head', '?user.head'],
  cacheable: ['?authorize.no-store', '!token.no-store', '?user.no-store'],
  framable: ['?authorize.framing'],
  referrer: ['?authorize.referrer'],
  'any-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'prefix-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'user-info-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'any-client': ['!authorize.unknown-client'],
  'no-client': ['!authorize.missing-client'],
  'no-login-check': ['!authorize.login-needed'],
  'everyone-eligible': ['!authorize.eligibility'],
  'refusal-without-redirect': ['?authorize.access-denied'],
  'state-changed': ['!authorize.state'],
  'state-lost': ['!authorize.state'],
  'state-optional': ['?authorize.state-needed'],
  'any-response-type': ['!authorize.response-type'],
  'response-type-optional': ['!authorize.response-type'],
  'repeated-parameters': ['?authorize.repeated', '?token.repeated'],
  echo: ['!authorize.no-injection'],
  'permanent-redirect': ['?authorize.temporary-redirect'],
  'weak-code': ['!authorize.fresh-code'],
  'same-code': ['!authorize.fresh-code'],
  'any-secret': ['!token.wrong-secret'],
  'any-token-client': ['!token.unknown-client'],
  'reusable-code': ['!token.replayed-code'],
  'racy-code': ['!token.race'],
  'any-token-redirect': ['!token.foreign-redirect-uri'],
  'any-grant': ['!token.grant-type'],
  'any-code': ['!token.unknown-code'],
  'burns-code': ['?token.wrong-caller-burns-nothing'],
  'json-body': ['?token.form-only'],
  'url-credentials': ['?token.credentials-in-url'],
  'no-basic': ['?token.basic'],
  'no-pkce': ['?token.pkce'],
  'pkce-any-verifier': ['?token.pkce'],
  'pkce-optional-verifier': ['?token.pkce'],
  'replay-leaves-token': ['?token.replay-revokes'],
  'html-token': ['!token.answer'],
  'text-token': ['!token.answer'],
  'lower-bearer': ['!token.answer'],
  'plain-errors': ['?token.error'],
  'optional-parameters': ['!token.foreign-redirect-uri', '!token.missing-redirect-uri', '!token.missing-grant-type'],
  'code-is-token': ['!user.code-as-token'],
  'token-is-code': ['!token.access-token-as-code'],
  'reusable-token': ['!user.replayed-token'],
  'racy-token': ['!user.race'],
  'any-token': ['!user.unknown-token'],
  'any-jwt': ['!user.unknown-token'],
  'no-token-needed': ['!user.no-token'],
  'session-is-token': ['!user.session-is-no-token'],
  'query-token': ['?user.header-only'],
  'no-challenge': ['?token.client-challenge', '?user.challenge'],
  'case-scheme': ['?user.scheme-case'],
  'wrong-role': ['!user.record'],
  'empty-email': ['!user.record'],
  'extra-fields': ['?user.listed-fields'],
  'user-404': ['!address.endpoints']
}

t.setTimeout(300_000)

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
  const { baseUrl } = await listening(t, { mistakes: ['code-never-expires'], lifetime: 5 })
  const result = await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax', '--code-lifetime', '0'])
  t.strictSame(failedRules(result), ['!token.code-lifetime'])
})

await t.test('a proxy that strips the path: the check says where the endpoints answer', async (t) => {
  const { baseUrl } = await listening(t)
  const result = await report(`${baseUrl}/app`, ['--cookie', 'sid=ada; SameSite=Lax'])
  t.match(result.rules[0], {
    id: 'address.endpoints',
    outcome: 'fail',
    got: /^GET \/app\/oauth\/authorize: 404/,
    fix: `Something answers at ${baseUrl}/oauth/authorize`
  })
  t.strictSame(failedRules(result), ['!address.endpoints'])
  t.equal(result.code, 1)
})
