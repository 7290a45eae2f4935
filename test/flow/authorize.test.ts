// GET /oauth/authorize: every answer of it.
import t from 'tap'
import { type FastifyReply } from 'fastify'
import { PORTAL, recordOf, startHost } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

t.test('a request that names no registered portal and redirect_uri is never redirected', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const cases: [Record<string, string | undefined>, string][] = [
    [{ client_id: undefined }, 'client_id_missing'],
    [{ client_id: '' }, 'client_id_missing'],
    [{ client_id: 'another' }, 'client_id_unknown'],
    [{ redirect_uri: undefined }, 'redirect_uri_missing'],
    [{ redirect_uri: '' }, 'redirect_uri_missing'],
    [{ redirect_uri: `${PORTAL.redirectUri}/` }, 'redirect_uri_unregistered']
  ]
  for (const [changes, reason] of cases) {
    const answer = await portal.authorize(changes)
    t.equal(answer.status, 400, reason)
    t.equal(answer.headers.get('location'), null)
    t.match(answer.headers.get('content-type'), /^application\/json/)
    t.strictSame(Object.keys(answer.json), ['error', 'error_description'])
    t.equal(answer.json.error, 'invalid_request')
    t.match(events.pop(), { type: 'request_rejected', reason })
  }
  for (const name of ['client_id', 'redirect_uri']) {
    const common = new URLSearchParams({
      client_id: PORTAL.clientId,
      redirect_uri: PORTAL.redirectUri,
      response_type: 'code',
      state: 's'
    })
    common.append(name, common.get(name) as string)
    const headers = { 'x-user': 'alice' }
    const answer = await fetch(`${url}/oauth/authorize?${common}`, { redirect: 'manual', headers })
    t.equal(answer.status, 400)
    t.match(events.pop(), { reason: `${name}_repeated` })
  }
})

t.test('a refused redirect_uri is reported with what was expected', async (t) => {
  const { url, events } = await startHost(t)
  await wire(url).authorize({ redirect_uri: 'https://evil.example/' })
  t.match(events[0], { clientId: PORTAL.clientId, expected: PORTAL.redirectUri })
  t.notMatch(JSON.stringify(events), 'evil')
})

t.test('a browser gets a page that carries nothing of the request and loads nothing', async (t) => {
  const { url } = await startHost(t)
  const accept = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'
  const answer = await wire(url).authorize({ client_id: 'zzz-unknown', state: 'zzz-state' }, 'alice', { accept })
  t.equal(answer.status, 400)
  t.match(answer.headers.get('content-type'), /^text\/html; charset=utf-8/)
  t.match(answer.headers.get('content-security-policy'),
    /^default-src 'none'; style-src 'sha256-[^']+'; .*frame-ancestors 'none'$/)
  t.notMatch(answer.text, /zzz|src=|<script|url\(/)
  t.match(answer.text, `href="${PORTAL.loginUrl}"`, 'the only portal there is')
})

t.test('the page links to the portal concerned, and to none where it could be any', async (t) => {
  const other = { ...PORTAL, clientId: 'other', loginUrl: 'https://test.portal.example/external-oauth/<"1&2">' }
  const { url } = await startHost(t, { portal: [PORTAL, other] })
  const html = { accept: 'text/html' }
  const neutral = await wire(url).authorize({ client_id: 'unknown' }, null, html)
  t.equal(neutral.status, 400)
  t.match(neutral.text, '<h1')
  t.notMatch(neutral.text, 'href')
  const page = (await wire(url).authorize({ client_id: 'other', redirect_uri: 'x' }, null, html)).text
  t.match(page, 'href="https://test.portal.example/external-oauth/&#60;&#34;1&#38;2&#34;&#62;"')
})

t.test('every other fault goes back to the portal, with the state', async (t) => {
  const { url, events } = await startHost(t)
  const portal = wire(url)
  const cases: [Record<string, string | undefined>, string, string][] = [
    [{ response_type: undefined }, 'invalid_request', 'response_type_missing'],
    [{ response_type: '' }, 'invalid_request', 'response_type_missing'],
    [{ response_type: 'token' }, 'unsupported_response_type', 'response_type_unsupported'],
    [{ response_type: 'Code' }, 'unsupported_response_type', 'response_type_unsupported'],
    [{ code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request', 'code_challenge_malformed'],
    [{ code_challenge: `${CHALLENGE}=`, code_challenge_method: 'S256' }, 'invalid_request', 'code_challenge_malformed'],
    [{ code_challenge: CHALLENGE }, 'invalid_request', 'code_challenge_method_unsupported'],
    [{ code_challenge: CHALLENGE, code_challenge_method: 'plain' },
      'invalid_request', 'code_challenge_method_unsupported'],
    [{ code_challenge_method: 'S256' }, 'invalid_request', 'code_challenge_malformed']
  ]
  for (const [changes, error, reason] of cases) {
    const answer = await portal.authorize({ ...changes, state: 'the state' })
    t.equal(answer.status, 302, reason)
    t.ok(answer.headers.get('location')?.startsWith(`${PORTAL.redirectUri}?error=${error}&error_description=`), reason)
    t.equal(answer.redirect.get('error'), error)
    t.match(answer.redirect.get('error_description'), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    t.equal(answer.redirect.get('state'), 'the state')
    t.equal(answer.redirect.get('code'), null)
    t.match(events.pop(), { reason, clientId: PORTAL.clientId })
  }
})

t.test('a missing state is refused with nothing to give back, a repeated one is not echoed', async (t) => {
  const { url, events } = await startHost(t)
  const missing = await wire(url).authorize({ state: undefined })
  t.equal(missing.redirect.get('error'), 'invalid_request')
  t.notOk(missing.redirect.has('state'))
  t.match(events.pop(), { reason: 'state_missing' })

  const common = new URLSearchParams({
    client_id: PORTAL.clientId,
    redirect_uri: PORTAL.redirectUri,
    response_type: 'code'
  })
  const cases = [
    ['state=a&state=b', null], ['state=a&nonce=1&nonce=1', 'a'], ['state=a&response_type=code', 'a'],
    ['state=a&state', null]
  ] as const
  for (const [twice, state] of cases) {
    const headers = { 'x-user': 'alice' }
    const answer = await fetch(`${url}/oauth/authorize?${common}&${twice}`, { redirect: 'manual', headers })
    const redirect = new URL(answer.headers.get('location') as string).searchParams
    t.equal(redirect.get('error'), 'invalid_request', twice)
    t.equal(redirect.get('state'), state, twice)
    t.match(events.pop(), { reason: 'parameter_repeated' })
  }
})

t.test('unknown parameters and scope are ignored', async (t) => {
  const { url } = await startHost(t)
  for (const changes of [{ scope: '' }, { scope: 'openid' }, { prompt: 'none' }, { login_hint: 'x' }]) {
    t.ok((await wire(url).authorize(changes)).redirect.get('code'))
  }
})

t.test('who is not logged in goes to the login page, and comes back', async (t) => {
  const cases = [
    ['/login', '/login?return_to='],
    ['/login?lang=en', '/login?lang=en&return_to='],
    ['/app#/login', '/app?return_to='],
    ['https://login.partner.example/', 'https://login.partner.example/?return_to=']
  ] as const
  for (const [loginPage, start] of cases) {
    const { url, events } = await startHost(t, { loginPage })
    const answer = await wire(url).authorize({ state: 'x y' }, null)
    t.equal(answer.status, 302)
    const location = answer.headers.get('location') as string
    t.ok(location.startsWith(start), location)
    const returnTo = new URL(location, url).searchParams.get('return_to') as string
    t.match(returnTo, /^\/oauth\/authorize\?client_id=/)
    t.match(events.pop(), { type: 'login_required', reason: 'login_page', clientId: PORTAL.clientId })

    const back = await fetch(url + returnTo, { redirect: 'manual', headers: { 'x-user': 'alice' } })
    t.match(back.headers.get('location'), /[?&]code=[\w-]+&state=x\+y$/)
  }
  const { url } = await startHost(t, { loginPage: '/app#/login' })
  t.match((await wire(url).authorize({}, null)).headers.get('location'), /^\/app\?return_to=[^#]*#\/login$/)
})

t.test('a login page made by a function', async (t) => {
  const { url } = await startHost(t, {
    loginPage: (returnTo, request) => `/sign-in/${request.method}/é?then=${encodeURIComponent(returnTo)}`
  })
  const location = (await wire(url).authorize({}, null)).headers.get('location')
  t.match(location, /^\/sign-in\/GET\/%C3%A9\?then=%2Foauth%2Fauthorize%3F/)

  const notUrl = 'loginPage must return a URL'
  const cases: Array<[page: () => string, cause: string]> = [
    [() => '', notUrl],
    [() => undefined as unknown as string, notUrl],
    [() => { throw new Error('no page') }, 'no page']
  ]
  for (const [broken, cause] of cases) {
    const lines: string[] = []
    const server = { logger: { stream: { write: (line: string) => { lines.push(line) } } } }
    const { url, events } = await startHost(t, { loginPage: broken }, { server })
    t.equal((await wire(url).authorize({}, null)).redirect.get('error'), 'server_error')
    t.match(events.pop(), { type: 'sign_in_refused', reason: 'login_page_failed' })
    t.ok(lines.some((line) => line.includes('login_page_failed') && line.includes(cause)), 'the log says why')
  }
})

t.test('return_to is on this site, however the target of the request was written', async (t) => {
  const { app } = await startHost(t, { loginPage: '/login' }, {
    server: { rewriteUrl: ({ url }) => (url as string).replace(/^[^?]*(?=\/oauth)/, '') }
  })
  const query = `client_id=${PORTAL.clientId}&redirect_uri=${PORTAL.redirectUri}&response_type=code&state=s`
  const { port } = app.server.address() as { port: number }
  const { request } = await import('node:http')
  for (const [target, path] of [
    ['/oauth/authorize', '/oauth/authorize'],
    ['//evil.example/oauth/authorize', '/evil.example/oauth/authorize'],
    ['/\\evil.example/oauth/authorize', '/evil.example/oauth/authorize'],
    ['http://evil.example/oauth/authorize', '/oauth/authorize'],
    ['HTTPS://evil.example:8443/oauth/authorize', '/oauth/authorize'],
    ['http:////evil.example/oauth/authorize', '/evil.example/oauth/authorize']
  ] as const) {
    const asked = { port, path: `${target}?${query}` }
    const location = await new Promise<string>((resolve, reject) => request(asked, (response) => {
      response.resume()
      resolve(response.headers.location as string)
    }).on('error', reject).end())
    const returnTo = new URL(location, 'http://partner.example').searchParams.get('return_to') as string
    t.equal(returnTo, `${path}?${query}`, target)
    t.equal(new URL(returnTo, 'http://partner.example').host, 'partner.example', target)
  }
})

t.test('not logged in without a login page, and not eligible, is access_denied', async (t) => {
  const { url, events } = await startHost(t)
  t.equal((await wire(url).authorize({}, null)).redirect.get('error'), 'access_denied')
  t.match(events.pop(), { type: 'sign_in_refused', reason: 'not_logged_in' })
  t.equal((await wire(url).authorize({}, 'nobody-1')).redirect.get('error'), 'access_denied')
  t.match(events.pop(), { type: 'sign_in_refused', reason: 'not_eligible' })
})

t.test('a hook that throws is server_error, in words of ours', async (t) => {
  const lines: string[] = []
  const server = { logger: { stream: { write: (line: string) => { lines.push(line) } } } }
  const fail = () => { throw new Error('the directory is down') }
  const cases = [
    [{ currentUser: fail }, 'current_user_failed'],
    [{ portalEligibility: fail }, 'portal_eligibility_failed']
  ] as const
  for (const [options, reason] of cases) {
    const { url, events } = await startHost(t, options, { server })
    const { redirect } = await wire(url).authorize()
    t.equal(redirect.get('error'), 'server_error')
    t.notMatch(redirect.get('error_description'), 'directory')
    t.equal(redirect.get('state'), 'a state')
    t.match(events.pop(), { type: 'sign_in_refused', reason })
    const parts = ['"level":50', reason, 'the directory is down']
    t.ok(lines.some((line) => parts.every((part) => line.includes(part))))
  }
})

t.test('a record that breaks a rule is server_error, and the log says which rule', async (t) => {
  const lines: string[] = []
  const { url, events } = await startHost(t, {
    portalEligibility: ({ id }) => ({ ...recordOf(id), control_role: 'Client Administrator' }) as never
  }, { server: { logger: { stream: { write: (line: string) => { lines.push(line) } } } } })
  t.equal((await wire(url).authorize()).redirect.get('error'), 'server_error')
  t.match(events.pop(), { type: 'sign_in_refused', reason: 'user_information_invalid' })
  const line = lines.find((line) => line.includes('user_information_invalid')) as string
  t.match(line, /control_role must be \\"Partner Administrator\\" or \\"Partner Read Only\\"/)
  t.notMatch(line, /alice@|Name of/)
})

t.test('currentUser may answer itself', async (t) => {
  const answers = {
    sync: (_: unknown, reply: FastifyReply) => { reply.code(418).send('one moment') },
    async: async (_: unknown, reply: FastifyReply) => { await reply.code(418).send('one moment') },
    returned: async (_: unknown, reply: FastifyReply) => reply.code(418).send('one moment') as never,
    user: async (_: unknown, reply: FastifyReply) => {
      reply.code(418).send('one moment')
      return { id: 'alice', eligible: true }
    },
    thrown: async (_: unknown, reply: FastifyReply) => { reply.code(418).send('one moment'); throw new Error('late') }
  }
  for (const [name, currentUser] of Object.entries(answers)) {
    let asked = false
    const lines: string[] = []
    const server = { logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } }
    const options = { currentUser: currentUser as never, portalEligibility: () => { asked = true; return null } }
    const { url, events } = await startHost(t, options, { server })
    const answer = await wire(url).authorize()
    t.equal(answer.status, 418, name)
    t.equal(answer.text, 'one moment')
    t.equal(answer.headers.get('cache-control'), 'no-store')
    t.notOk(asked)
    t.strictSame(events.map(({ type, reason }) => [type, reason]), [['login_required', 'answered_by_current_user']])
    t.equal(lines.length, name === 'thrown' ? 1 : 0)
    if (name !== 'thrown') continue
    const logged = { err: { message: 'late' }, msg: 'partner-sso: currentUser threw after it had replied' }
    t.match(JSON.parse(lines[0] as string), logged)
  }
})

t.test('a hook is never called for a request that will be refused anyway', async (t) => {
  let calls = 0
  const { url } = await startHost(t, { currentUser: () => { calls++; return { id: 'alice', eligible: true } } })
  const bad = [
    { client_id: 'x' }, { redirect_uri: 'x' }, { response_type: 'x' }, { state: '' }, { code_challenge: 'x' }
  ]
  for (const changes of bad) {
    await wire(url).authorize(changes)
  }
  t.equal(calls, 0)
})

t.test('the hooks are told of the portal and the request, and never of its secret', async (t) => {
  let seen: unknown
  const { url } = await startHost(t, {
    portalEligibility: ({ id }, { portal, request }) => {
      seen = [portal, request.method]
      return recordOf(id)
    }
  })
  await wire(url).authorize()
  const { loginUrl, clientId, redirectUri } = PORTAL
  t.strictSame(seen, [{ loginUrl, clientId, redirectUri, level: 'partner' }, 'GET'])
})

t.test('what is falsy is nobody', async (t) => {
  for (const nobody of [null, undefined, false, '', 0]) {
    const { url } = await startHost(t, { currentUser: () => nobody as never })
    t.equal((await wire(url).authorize()).redirect.get('error'), 'access_denied')
  }
})

t.test('the headers of every answer', async (t) => {
  const { url } = await startHost(t, { loginPage: '/login' })
  const answers = [
    await wire(url).authorize(),
    await wire(url).authorize({}, null),
    await wire(url).authorize({ response_type: '' }),
    await wire(url).authorize({ client_id: '' }),
    await wire(url).authorize({ client_id: '' }, null, { accept: 'text/html' })
  ]
  for (const [index, { headers }] of answers.entries()) {
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('pragma'), 'no-cache')
    t.equal(headers.get('referrer-policy'), 'no-referrer')
    t.equal(headers.get('x-frame-options'), 'DENY')
    t.match(headers.get('content-security-policy'),
      index === 4 ? /^default-src 'none'; .*; frame-ancestors 'none'$/ : /^frame-ancestors 'none'$/)
  }
})

t.test('a redirect_uri keeps its own query', async (t) => {
  for (const [redirectUri, start] of [
    ['https://portal.example/cb?tenant=1&x=%20+', 'https://portal.example/cb?tenant=1&x=%20+&code='],
    ['https://portal.example/cb?', 'https://portal.example/cb?code='],
    ['https://portal.example/cb?a=1&', 'https://portal.example/cb?a=1&code='],
    ['http://localhost:3001/cb', 'http://localhost:3001/cb?code=']
  ] as const) {
    const { url } = await startHost(t, { portal: { ...PORTAL, redirectUri } })
    const answer = await wire(url, { ...PORTAL, redirectUri }).authorize()
    t.ok(answer.headers.get('location')?.startsWith(start), redirectUri)
  }
})
