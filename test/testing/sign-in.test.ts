// A partner's test signs a user in and reads the record that the portal would get.
import t from 'tap'
import { basicCredentials } from '../../lib/flow/requests.ts'
import { portal } from '../../lib/testing/index.ts'
import type { LoginPage } from '../../lib/testing/index.ts'
import { partnerApp, sessionOf, SETTINGS, startApp } from '../app.ts'

const ada = { cookies: sessionOf('ada') }

t.test('over HTTP, in-process, by form, Basic and PKCE, the record comes back', async (t) => {
  const { baseUrl, app } = await startApp(t)
  for (const where of [{ baseUrl }, { app }]) {
    for (const how of [{}, { clientAuthentication: 'basic' as const }, { pkce: true }]) {
      const row = `${Object.keys(where)} ${Object.keys(how)}`
      const result = await portal({ ...where, ...SETTINGS, ...how }).signIn(ada)
      t.match(result, { ok: true, record: { external_id: 'u-1', type: 'partner' } }, row)
      const sent = JSON.stringify(result.steps).match(/code_challenge=|code_verifier=|Basic /g) ?? []
      t.equal(new Set(sent).size, { pkce: 2, clientAuthentication: 1 }[Object.keys(how).join()] ?? 0, row)
    }
  }
})

t.test('the fifteen steps: who acts, and which of them show an exchange', async (t) => {
  // The times of the steps are differences, whatever the clock shows.
  const { now } = performance
  t.teardown(() => { performance.now = now })
  performance.now = () => now.call(performance) + 1e9
  const app = partnerApp()
  const { steps } = await portal({ app, ...SETTINGS }).signIn(ada)
  for (const [at, { number, outcome }] of steps.entries()) {
    t.strictSame([number, outcome], [at + 1, 'done'], `step ${at + 1}`)
  }
  t.equal(steps.map(({ actor }) => actor[0]).join(''), 'BPPPSSSPPSSSPSS')
  const shown = steps.flatMap(({ number, exchange }) =>
    exchange === undefined ? [] : [[number, new URL(exchange.request.url).pathname, exchange.response?.status]])
  t.strictSame(shown, [
    [4, '/oauth/authorize', undefined], [7, '/oauth/authorize', 302],
    [9, '/oauth/token', undefined], [12, '/oauth/token', 200], [13, '/oauth/user', undefined], [15, '/oauth/user', 200]
  ])
  t.match(steps[3]?.exchange?.request.url, /&scope=&/, 'the portal sends it empty')
  const times = steps.flatMap(({ exchange }) => exchange?.response === undefined ? [] : exchange.milliseconds)
  t.equal(times.length, 3, 'of each request')
  t.ok(Math.min(...times) >= 0 && Math.max(...times) < 1e9, `${times}`)
})

t.test('HTTP Basic is form-encoded', async (t) => {
  t.equal(Buffer.from(basicCredentials('a b', 'c+:'), 'base64').toString(), 'a+b:c%2B%3A')
})

t.test('each step can be made by itself', async (t) => {
  const app = partnerApp()
  const client = portal({ app, ...SETTINGS, pkce: true })
  const issued = async () => {
    const authorized = await client.authorize(ada)
    if (!authorized.ok || authorized.verifier === undefined) throw new Error('no code')
    return authorized as typeof authorized & { verifier: string }
  }
  const other = await client.token((await issued()).code, { verifier: 'v'.repeat(43) })
  t.match(other, { ok: false, step: 10, error: 'invalid_grant', response: { status: 400 } })
  t.match(await client.token((await issued()).code), { ok: false, step: 10 }, 'without a verifier none is sent')
  const first = await issued()
  const leftOut = { verifier: first.verifier, parameters: { code_verifier: undefined } }
  t.match(await client.token(first.code, leftOut), { ok: false, step: 10 }, 'nor one that is left out')
  const { code, verifier } = await issued()
  const wrongSecret = await client.token(code, { verifier, parameters: { client_secret: 'wrong' } })
  t.match(wrongSecret, { ok: false, step: 11, error: 'invalid_client' })
  const token = await client.token(code, { verifier })
  if (!token.ok) throw new Error(token.got)
  t.equal(token.response.status, 200)
  t.equal(JSON.parse(token.response.body).access_token, token.accessToken, 'the response as it was sent')
  const user = await client.user(token.accessToken)
  t.match(user, { ok: true, record: { name: 'Ada Lovelace' }, response: { status: 200 } })
  t.match(await client.user(token.accessToken), { ok: false, step: 14, error: 'invalid_token' })
})

t.test('parameters of the authorization request can be changed, left out, repeated', async (t) => {
  const app = partnerApp()
  const { authorize } = portal({ app, ...SETTINGS })
  const implicit = await authorize(ada, { response_type: 'token' })
  t.match(implicit, { ok: false, step: 6, error: 'unsupported_response_type' })
  const authorized = await authorize(ada, { scope: undefined })
  t.match(authorized, { ok: true, code: /./, state: /^[\w-]{43}$/ })
  t.notMatch(authorized.steps[3]?.exchange?.request.url, /scope/)
  t.match(authorized, { verifier: undefined }, 'there is none without PKCE')
  t.match(await authorize(ada, { state: ['a', 'b'] }), { ok: false, error: 'invalid_request' })
})

t.test('after a login that leads elsewhere the request is made again, with its parameters', async (t) => {
  for (const end of [undefined, '/', 'https://www.partner.example/', '/round']) {
    const app = partnerApp(end === undefined ? {} : { returnTo: () => end })
    const urls: string[] = []
    app.addHook('onRequest', async ({ url }) => {
      if (url.startsWith('/oauth/authorize')) urls.push(url)
    })
    app.get('/round', async (_request, reply) => reply.redirect('/round'))
    const login = async (page: LoginPage) => {
      t.match(page, { url: /\/login\?return_to=/, status: 200, body: '<form' }, `${end}`)
      await page.post({ user: 'bob' })
      await page.get(page.url)
    }
    const { authorize } = portal({ app, ...SETTINGS })
    t.match(await authorize({ login }, { scope: 'a scope' }), { ok: true }, `${end}`)
    const scoped = urls.filter((url) => url.includes('scope=a+scope'))
    t.equal(scoped.length, 2, `${end}`)
  }
})

t.test('a login function may log the user in without a request of the browser', async (t) => {
  let isLoggedIn = false
  const app = partnerApp({ options: { currentUser: () => isLoggedIn ? 'ada' : null } })
  const login = () => { isLoggedIn = true }
  t.match(await portal({ app, ...SETTINGS }).signIn({ login }), { ok: true })
})

t.test('nobody logs in where the browser ends on no page', async (t) => {
  const app = partnerApp({ options: { loginPage: (returnTo) => returnTo } })
  const login = () => t.fail('the login is called')
  const result = await portal({ app, ...SETTINGS }).signIn({ login })
  t.match(result, { ok: false, step: 5 })
})

t.test('a user known by a header, or by cookies of an object over http', async (t) => {
  const { baseUrl } = await startApp(t)
  // Leads to this machine, but browsers would not send it a Secure cookie.
  const double = portal({ baseUrl: baseUrl.replace('127.0.0.1', '0.0.0.0'), ...SETTINGS })
  t.match(await double.signIn({ headers: { cookie: ada.cookies } }), { ok: true })
  const sid = ada.cookies.slice('sid='.length)
  // Of an object no name is an attribute.
  t.match(await double.signIn({ cookies: { sid, expires: '0', domain: 'x' } }), { ok: true })
})
