// The common mistakes of services: each is found, under its own name, and nothing else is blamed.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { check, failedRules, report } from '../helpers/program.ts'
import { RULES } from '../../lib/simulator/rules/all.ts'
import { listening, specServer } from '../helpers/spec-server.ts'
import type { Mistake } from '../helpers/spec-server.ts'
import { tried } from './trial.ts'

type Elsewhere = 'strict-cookie' | 'login-loses-prefix' | 'code-never-expires'

/** The rules that fail: `!` for a failure, `?` for advice. What only follows from a cause is not listed. */
const FOUND: Record<Exclude<Mistake, Elsewhere>, string[]> = {
  'login-csp': ['?login.form-action'],
  'login-meta-csp': ['?login.form-action'],
  'login-loop': ['!login.page'],
  'login-404': ['!login.page'],
  'login-elsewhere': [],
  'login-broken': ['!login.page'],
  'login-forgets': ['!login.return'],
  'login-form-forgets': ['!login.return'],
  'login-http': ['?address.no-downgrade'],
  'login-hook': ['?login.page', '!token.hook'],
  'authorize-hook': ['!authorize.hook'],
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
  'user-404': ['!address.endpoints'],
  'no-cache': ['?authorize.no-store', '!token.no-store', '?user.no-store'],
  'frame-options-any': ['?authorize.framing'],
  'ancestors-any': ['?authorize.framing'],
  'referrer-downgrade': ['?authorize.referrer'],
  'basic-at-user': ['?user.challenge'],
  'bearer-at-token': ['?token.client-challenge'],
  'echo-untyped': ['!authorize.no-injection'],
  'echo-redirect-uri': ['!authorize.no-injection'],
  'record-in-refusal': ['!user.unknown-token'],
  'email-in-refusal': ['!user.unknown-token'],
  'token-in-refusal': ['!token.unknown-code'],
  'token-500': ['!token.answer'],
  'unknown-code-500': ['?token.unknown-code'],
  'unknown-token-500': ['?user.unknown-token'],
  'unknown-client-500': [
    '?authorize.foreign-redirect-uri', '?authorize.unknown-client', '?authorize.missing-client',
    '?authorize.repeated'
  ],
  'slash-redirect-uri': ['!authorize.foreign-redirect-uri'],
  'case-redirect-uri': ['!authorize.foreign-redirect-uri']
}

t.setTimeout(300_000)

for (const [mistake, expected] of Object.entries(FOUND)) {
  await t.test(mistake, async (t) => {
    const { findings, stopped } = await tried(RULES.map(({ id }) => id), {
      mistakes: [mistake as Mistake], cookie: 'sid=ada; SameSite=Lax', ineligible: 'sid=eve'
    })
    t.equal(stopped, undefined)
    t.strictSame(findings.flatMap(({ rule: { id }, result }) =>
      result.outcome === 'fail' ? [`${result.severity === 'must' ? '!' : '?'}${id}`] : []), expected)
  })
}

await t.test('login-loses-prefix', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['login-loses-prefix'], prefix: '/app' })
  const result = await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax'])
  t.strictSame(failedRules(result), ['!login.return'])
})

await t.test('code-never-expires', async (t) => {
  const { baseUrl } = await listening(t, { mistakes: ['code-never-expires'] })
  const waits: number[] = []
  const more = ['--cookie', 'sid=ada; SameSite=Lax', '--code-lifetime', '60']
  const result = await report(baseUrl, more, { wait: async (milliseconds) => { waits.push(milliseconds) } })
  t.strictSame(failedRules(result), ['!token.code-lifetime'])
  t.strictSame(waits, [61_000])
  const inRealTime = await report(baseUrl, [...more.slice(0, -1), '0'])
  t.strictSame(failedRules(inRealTime), ['!token.code-lifetime'])
})

await t.test('form-action is a failure where the login is known to redirect, else advice', async (t) => {
  const login = (status: string) => `HTTP/1.1 ${status}\r\nSet-Cookie: sid=ada; Path=/; HttpOnly; SameSite=Lax\r\n\r\n`
  for (const mistake of ['login-csp', 'login-meta-csp'] as const) {
    const { baseUrl } = await listening(t, { mistakes: [mistake] })
    t.strictSame(failedRules(await report(baseUrl, ['--cookie', login('303 See Other')])), ['!login.form-action'])
    t.strictSame(failedRules(await report(baseUrl, ['--cookie', login('200 OK')])), ['?login.form-action'])
  }
})

await t.test('a hook in front of the authorization endpoint is told from a cookie that logs nobody in', async (t) => {
  const hooked = await listening(t, { mistakes: ['login-hook'] })
  const stale = await report(hooked.baseUrl, ['--cookie', 'stale=1'])
  t.equal(stale.code, 1)
  t.match(stale.rules.filter(({ outcome }) => outcome === 'fail'), [{
    id: 'authorize.hook',
    got: '401 with the error Unauthorized (Log in first), also for a request without client_id',
    fix: /^Exempt \/oauth\/authorize, \/oauth\/token and \/oauth\/user from .* global hooks/
  }])
  for (const [given, advice] of [
    [[], 'make a user known with --cookie or --header'],
    [['--header', 'x-user: ada'], 'if it reads the header x-user, give a value that it accepts']
  ] as const) {
    const { code, err } = await check(hooked.baseUrl, [...given])
    t.equal(code, 2, 'the service may know its users by a header, which a proxy sets')
    t.match(err, /^A hook of the application responds in front of the authorization endpoint \(401 with/)
    t.match(err, advice)
  }

  const own = await startHost(t, {
    currentUser: async (_request, reply) => {
      await reply.code(401).send({ error: 'log in first' })
      return null
    }
  })
  const argv = ['--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri, '--cookie', 'stale=1']
  const refused = await check(own.url, argv, { env: { PORTAL_CLIENT_SECRET: PORTAL.clientSecret } })
  t.match(refused, { code: 2, err: /^The cookie stale was sent and logs nobody in: has it expired/ })
})

await t.test('a 401 that asks for a password, or that shows a login page, is no hook', async (t) => {
  for (const headers of [{ 'WWW-Authenticate': 'Basic' }, { 'Content-Type': 'text/html' }]) {
    const { app } = await specServer()
    t.teardown(() => app.close())
    app.addHook('onRequest', async ({ url, headers: { cookie } }, reply) => {
      if (!url.startsWith('/oauth/authorize') || cookie === 'sid=ada') return
      return reply.code(401).headers(headers).send('<form method=post><input type=password></form>')
    })
    const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
    t.match(await check(baseUrl, ['--cookie', 'stale=1']), { code: 2, err: /^The cookie stale was sent and logs/ })
    t.strictSame(failedRules(await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax'])), [])
  }
})

await t.test('of an endpoint that is not there, the check says the method and the path', async (t) => {
  for (const [mistake, request] of [['spa', 'POST /oauth/token'], ['user-404', 'GET /oauth/user']] as const) {
    const { baseUrl } = await listening(t, { mistakes: [mistake] })
    const { rules } = await report(baseUrl, ['--cookie', 'sid=ada; SameSite=Lax'])
    t.match(rules[0], { id: 'address.endpoints', got: new RegExp(`^${request}: `) })
  }
})

await t.test('a proxy that strips the path: the check says where the endpoints answer', async (t) => {
  const { baseUrl } = await listening(t)
  const result = await report(`${baseUrl}/app`, ['--cookie', 'sid=ada; SameSite=Lax'])
  t.match(result.rules[0], {
    id: 'address.endpoints',
    outcome: 'fail',
    got: /^GET \/app\/oauth\/authorize: 404/,
    fix: `The endpoint was found at ${baseUrl}/oauth/authorize`
  })
  t.strictSame(failedRules(result), ['!address.endpoints'])
  t.equal(result.code, 1)
})
