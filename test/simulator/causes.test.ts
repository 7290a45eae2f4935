// Mistakes with a name of their own: what the check says is the cause, and not its consequences.
import t from 'tap'
import { ruleOf, RULES } from '../../lib/simulator/rules/all.ts'
import { runRule } from '../../lib/simulator/rules/run-rules.ts'
import { Service } from '../../lib/simulator/rules/service.ts'
import { integration } from '../../lib/testing/settings.ts'
import type { Exchange } from '../../lib/testing/wire.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { check, program, report } from '../helpers/program.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { listening, REDIRECT_URI, SETTINGS, specServer } from '../helpers/spec-server.ts'
import { altered, isAuthorize, isToken, isUser, json, redirect, tried, verdict } from './trial.ts'

t.setTimeout(300_000)

const USER = ['--cookie', 'sid=ada; SameSite=Lax']

await t.test('a proxy strips the path, and the login page is given as a string', async (t) => {
  for (const [loginPage, id] of [['/login', 'login.page'], ['/app/login', 'login.return']] as const) {
    const { url } = await startHost(t, { loginPage }, {
      prepare: (app) => app.get('/login', (_request, reply) => reply.type('text/html').send('<form method=post>'))
    })
    // What is below /app goes to the app without that path; the rest is not there.
    const baseUrl = await httpServer(t, async (request, response) => {
      const { method = '', headers } = request
      if (!String(request.url).startsWith('/app/')) return response.writeHead(404).end()
      const body = method === 'POST' ? Buffer.concat(await request.toArray()) : null
      const { host, connection, 'content-length': length, ...rest } = headers
      const options = { method, headers: rest as Record<string, string>, body, redirect: 'manual' as const }
      const inner = await fetch(url + String(request.url).slice(4), options)
      const { 'content-encoding': encoding, ...given } = Object.fromEntries(inner.headers)
      return response.writeHead(inner.status, given).end(Buffer.from(await inner.arrayBuffer()))
    })
    const { rules } = await report(`${baseUrl}/app`, [
      '--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri, '--header', 'x-user: alice'
    ], { env: { PORTAL_CLIENT_SECRET: PORTAL.clientSecret } })
    t.match(rules.find(({ outcome }) => outcome === 'fail'), {
      id, fix: /: a proxy strips \/app, and the application does not know of it\. Give loginPage as a function/
    })
  }
})

await t.test('currentUser takes every browser for a user who may not enter', async (t) => {
  const { url } = await startHost(t, { currentUser: () => ({ id: 'nobody-1', eligible: false }) })
  const given = ['--base-url', url, '--client-id', PORTAL.clientId, '--redirect-uri', PORTAL.redirectUri]
  const env = { PORTAL_CLIENT_SECRET: PORTAL.clientSecret }
  const { code, err } = await program(['check', '--cookie', 'sid=1', ...given], { env })
  t.equal(code, 2)
  t.match(err, /^The service takes every browser for a user who may not enter, also one without cookies: see wh/)
  t.match(err, 'with the error access_denied (The user may not enter the portal.)')
})

await t.test('the registered redirect_uri is found where it differs in one thing, which is named', async (t) => {
  for (const [given, difference] of [
    [`${REDIRECT_URI}/`, 'trailing slash'],
    [REDIRECT_URI.replace('http:', 'https:'), 'scheme'],
    [REDIRECT_URI.replace('localhost', '127.0.0.1'), 'host'],
    [REDIRECT_URI.replace('localhost', 'www.localhost'), 'host'],
    [REDIRECT_URI.replace('callback', 'Callback'), 'case'],
    [`${REDIRECT_URI}?a=b`, 'query'],
    [REDIRECT_URI.replace('callback', 'c%61llback'), 'encoding'],
    [REDIRECT_URI.replace('callback', 'other'), null]
  ] as const) {
    const { app } = await specServer()
    const changes = integration({ app, ...SETTINGS, redirectUri: given })
    const expected = difference === null
      ? { fix: /^Register exactly/ }
      : { got: new RegExp(`; the service accepts ${REDIRECT_URI}$`), fix: new RegExp(`^The ${difference} differs`) }
    t.match(await verdict('authorize.answer', { changes }), { outcome: 'fail', ...expected }, given)
  }
  const redirectUri = 'http://localhost:4180/oauth/ä'
  const { app } = await specServer({ redirectUri })
  const changes = integration({ app, ...SETTINGS, redirectUri: new URL(redirectUri).href })
  t.match(await verdict('authorize.answer', { changes }), { fix: /^The encoding differs\. / })
  const broken = integration({ app, ...SETTINGS, redirectUri: 'http://localhost:4180/%ff' })
  t.match(await verdict('authorize.answer', { changes: broken }), { fix: /^Register exactly/ })
})

await t.test('a store that is down is said in words, not as an address', async (t) => {
  const back = { error: 'temporarily_unavailable', error_description: 'The service is temporarily unavailable.' }
  const down = await altered((request) =>
    isAuthorize(request) ? redirect(`${REDIRECT_URI}?${new URLSearchParams(back)}`) : null)
  const { stopped } = await verdict('authorize.answer', down)
  t.equal(stopped, 'The check is not complete: the service says that it is unavailable for the moment: ' +
    `302 with a redirect to ${REDIRECT_URI} with the error temporarily_unavailable ` +
    '(The service is temporarily unavailable.). The store of the service is down: check Redis.')
})

await t.test('endpoints under another prefix are found, and the base URL to give is said', async (t) => {
  for (const prefix of ['/api/v1', '/sso']) {
    const { baseUrl } = await listening(t, { prefix })
    const { rules } = await report(baseUrl.slice(0, -prefix.length), USER)
    const fix = new RegExp(`found at ${baseUrl}/oauth/authorize .*: give ${baseUrl} `)
    t.match(rules[0], { id: 'address.endpoints', fix })
  }
})

await t.test('a broken token endpoint does not hide what the authorization endpoint does wrong', async (t) => {
  for (const broken of [json(503, {}), json(502, {}), json(500, { error: 'server_error' }), 'silence'] as const) {
    const trial = await altered((request) => isToken(request) ? broken : null, ['framable'])
    const { findings } = await tried(RULES.map(({ id }) => id), trial)
    const failed = findings.flatMap(({ rule: { id }, result }) => result.outcome === 'fail' ? [id] : [])
    t.ok(failed.includes('authorize.framing'), JSON.stringify(broken))
    const untried = findings.find(({ rule: { id } }) => id === 'user.record')?.result
    t.match(untried, { outcome: 'untested', reason: /^token\.(?:body|answer) (?:could not be judged|fails)$/ })
  }
})

await t.test('a trial against a service that only fails does not pass', async (t) => {
  for (const status of [500, 501, 502, 503, 504]) {
    const failing = await altered((request) => isToken(request) || isUser(request) ? json(status, {}) : null)
    for (const id of ['token.wrong-secret', 'token.unknown-code', 'user.no-token', 'user.unknown-token']) {
      t.notMatch(await verdict(id, failing), { outcome: 'pass' }, `${id}: ${status}`)
    }
    const authorize = await altered((request) =>
      isAuthorize(request) && request.url.includes('unknown') ? json(status, {}) : null)
    for (const id of ['authorize.unknown-client', 'authorize.response-type']) {
      t.notMatch(await verdict(id, authorize), { outcome: 'pass' }, `${id}: ${status}`)
    }
  }
})

await t.test('a rule is tried alone, with what a sign-in has left', async (t) => {
  const { app, cookie } = await specServer()
  const settings = integration({ app, ...SETTINGS })
  const code = async (): Promise<string> => {
    const { headers } = await app.inject({
      url: `/oauth/authorize?${new URLSearchParams({
        client_id: SETTINGS.clientId, redirect_uri: REDIRECT_URI, response_type: 'code', state: 'a'
      })}`,
      headers: { cookie }
    })
    return String(new URL(String(headers.location)).searchParams.get('code'))
  }
  const seen: Exchange[] = []
  const alone = async (id: string, material: Service['settings']['material']) => {
    seen.length = 0
    const service = new Service(settings, { material, codeLifetime: 0, onExchange: (exchange) => seen.push(exchange) })
    return (await runRule(service, ruleOf(id))).result
  }
  const burnsNothing = await alone('token.wrong-caller-burns-nothing', { grant: { code: await code() } })
  t.strictSame([burnsNothing, seen.map(({ response }) => response?.status)], [{ outcome: 'pass' }, [401, 200]])
  const used = await alone('token.replayed-code', { redeemed: { code: 'used' } })
  t.strictSame([used, seen.length], [{ outcome: 'pass' }, 1])
  t.match(await alone('token.replayed-code', {}), { outcome: 'untested', reason: /^there is no code: 200 with/ })
  const foreign = await altered((request) => isAuthorize(request) ? redirect('/login') : null)
  const anonymous = new Service({ ...settings, ...foreign.changes })
  t.match((await runRule(anonymous, ruleOf('authorize.foreign-redirect-uri'))).result, {
    outcome: 'untested', reason: /^the service asks for a login first/
  })
  const callbackUrl = `${REDIRECT_URI}?error=access_denied&state=a`
  const exchange = { request: { method: 'GET', url: callbackUrl, headers: [] }, milliseconds: 0 }
  const refused = { at: 'callback' as const, callbackUrl, exchange, url: settings.authorizeUrl }
  t.match(await alone('authorize.eligibility', { ineligible: refused }), { outcome: 'pass' })
  t.match(await alone('authorize.access-denied', { ineligible: refused }), { outcome: 'pass' })
})

await t.test('without a user, the cookies that the service sets are judged', async (t) => {
  for (const [line, got] of [
    ['session=1; SameSite=Strict; Path=/', /^the service sets the cookie session with SameSite=Strict/],
    ['session=1; Path=/login', /^the service sets the cookie session with Path=\/login/],
    ['session=1; Path=/; SameSite=Lax', null]
  ] as const) {
    const trial = await altered((request) => isAuthorize(request)
      ? { status: 302, headers: [['Set-Cookie', line], ['Location', '/login']] }
      : null)
    const expected = got === null ? { outcome: 'untested' } : { outcome: 'fail', severity: 'should', got }
    t.match(await verdict('login.cookie', { ...trial, cookie: '' }), expected, line)
  }
})

await t.test('every request names the program', async (t) => {
  const agents = new Set<string | undefined>()
  const baseUrl = await httpServer(t, ({ headers }, response) => {
    agents.add(headers['user-agent'])
    response.writeHead(302, { Location: `${REDIRECT_URI}?error=server_error` }).end()
  })
  await check(baseUrl, USER)
  t.strictSame([...agents], ['partner-sso-portal'])
})

await t.test('Ctrl-C during the first request is an interruption, and no timeout of the service', async (t) => {
  const stop = new AbortController()
  const baseUrl = await httpServer(t, () => stop.abort())
  t.match(await check(baseUrl, USER, { stop: stop.signal }), { code: 2, out: '', err: 'The check was interrupted.\n' })
})

await t.test('control characters in the error of an app do not reach the terminal', async (t) => {
  const { changes } = await altered((request) => isAuthorize(request) ? 'silence' : null)
  const escapes = { code: 'app_failed' as const, sentence: 'The app failed: \x1b]0;title\x07' }
  const send = async (request: Exchange['request']) => ({ request, networkError: escapes, milliseconds: 1 })
  const { stopped } = await verdict('authorize.answer', { changes: { ...changes, send } })
  t.match(stopped, 'The app failed: \\u001b]0;title\\u0007')
})
