// The logins that people copy, and those who attack them. How they work in a browser: test/browser/logins.test.ts.
import { createHmac } from 'node:crypto'
import { createServer, request as ask } from 'node:http'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { allowInsecureRequests, discovery } from 'openid-client'
import t from 'tap'
import type { Test } from 'tap'
import { bearerLogin } from '../../examples/logins/bearer.ts'
import { federatedLogin } from '../../examples/logins/federated.ts'
import { formLogin } from '../../examples/logins/form.ts'
import { nextOf } from '../../examples/logins/next.ts'
import { removedPathLogin } from '../../examples/logins/removed-path.ts'
import { nodeSaml, samlLogin } from '../../examples/logins/saml.ts'
import { secondFactorLogin } from '../../examples/logins/second-factor.ts'
import type { Login } from '../../examples/logins/settings.ts'
import { singlePageLogin } from '../../examples/logins/single-page.ts'
import { partnerApp } from '../../examples/partner-app.ts'
import { portal as double } from '../../lib/testing/index.ts'
import { PORTAL } from '../app.ts'
import { Browser } from '../helpers/browser.ts'
import { openidProvider, samlProvider } from '../helpers/identity-provider.ts'
import { listen } from '../helpers/listen.ts'
import { freePort } from '../helpers/ports.ts'
import { SAML_CERTIFICATE } from '../helpers/saml-certificate.ts'

const SECRET = 'a secret of at least thirty-two characters'

/** A bearer token of the API. */
const API = { sub: 'u-1', aud: 'api' }

function token (claims: object, secret = SECRET): string {
  const parts = [{ alg: 'HS256' }, claims]
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

type Cookies = Record<string, string>
type Headers = Record<string, string>

interface Started {
  app: FastifyInstance
  get (url: string, cookies?: Cookies): Promise<LightMyRequestResponse>
  /** Sends a form, as text, or JSON. */
  post (url: string, payload: string | object, headers?: Headers): Promise<LightMyRequestResponse>
  /** Whether a browser with these cookies gets a code. */
  isLoggedIn (cookies: Cookies): Promise<boolean>
}

async function start (t: Test, login: Login, trustProxy = '192.0.2.1'): Promise<Started> {
  const app = await partnerApp({
    portal: PORTAL,
    cookieSecret: SECRET,
    login,
    sso: { store: 'memory' },
    trustProxy,
    logger: false
  })
  t.teardown(() => app.close())
  const get: Started['get'] = async (url, cookies = {}) => await app.inject({ url, cookies })
  return {
    app,
    get,
    async post (url, payload, headers = {}) {
      const type: Headers = typeof payload === 'string' ? { 'content-type': FORM } : {}
      return await app.inject({ method: 'POST', url, payload, headers: { ...type, ...headers } })
    },
    isLoggedIn: async (cookies) => /code=/.test(String((await get(AUTHORIZE, cookies)).headers.location))
  }
}

const FORM = 'application/x-www-form-urlencoded'
const USER = 'user=u-1'
const AUTHORIZE = '/oauth/authorize?' + String(new URLSearchParams({
  client_id: PORTAL.clientId,
  redirect_uri: PORTAL.redirectUri,
  response_type: 'code',
  state: 'a state'
}))

const cookiesOf = ({ cookies }: LightMyRequestResponse): Cookies =>
  Object.fromEntries(cookies.map(({ name, value }) => [name, value]))

/** The assertion of this provider is `<InResponseTo> <user>`. */
const saml = samlLogin({
  requestUrl: async (id) => `https://provider.example/?id=${id}`,
  async verify (response) {
    const [inResponseTo = '', user = ''] = response.split(' ')
    if (user === '') throw new Error('not signed')
    return { user, inResponseTo }
  }
})

t.test('each cookie is Secure behind a proxy that is trusted and ends TLS', async (t) => {
  const rows: Array<[login: Login, url: string, payload: string | object]> = [
    [formLogin, '/login', USER],
    [saml, '/login/saml', 'SAMLResponse=an-id+u-1'],
    [bearerLogin, '/api/portal-session', {}]
  ]
  const headers = { 'x-forwarded-proto': 'https', authorization: `Bearer ${token(API)}` }
  for (const [login, url, payload] of rows) {
    for (const [proxy, secure] of [['127.0.0.1', true], ['192.0.2.1', undefined]] as const) {
      const { post } = await start(t, login, proxy)
      const [cookie] = (await post(url, payload, headers)).cookies
      t.match(cookie, { httpOnly: true, sameSite: 'Lax' }, `${url} ${proxy}`)
      t.equal(cookie?.secure, secure, `${url} ${proxy}`)
    }
  }
})

t.test('a page of another site logs nobody in or out', async (t) => {
  const rows = [
    [formLogin, ['login', 'register', 'logout']],
    [singlePageLogin, ['api/login', 'api/register', 'logout']],
    [saml, ['logout']],
    [secondFactorLogin, ['login', 'second-factor', 'logout']]
  ] as const
  for (const [login, routes] of rows) {
    const { post } = await start(t, login)
    for (const route of routes) {
      const { statusCode } = await post(`/${route}`, USER, { 'sec-fetch-site': 'same-site' })
      t.equal(statusCode, 403, route)
    }
  }
})

t.test('SAML: an assertion logs in the browser that asked, once, in a session of a new name', async (t) => {
  const { get, post, isLoggedIn } = await start(t, saml)
  const begun = await get('/login?next=/orders')
  const [browser, victim] = [cookiesOf(begun), cookiesOf(await get('/login'))]
  const id = String(begun.headers.location).split('id=')[1]
  const assertion = cookiesOf(await post('/login/saml', `SAMLResponse=${id}+u-1`))
  const done = async (cookies: Cookies) => await get('/login/done', { ...cookies, ...assertion })

  for (const cookies of [{}, victim]) {
    t.equal((await done(cookies)).statusCode, 403, JSON.stringify(cookies))
    t.notOk(await isLoggedIn(cookies), JSON.stringify(cookies))
  }
  const response = await done(browser)
  t.equal(response.headers.location, '/orders')
  t.ok(await isLoggedIn(cookiesOf(response)))
  t.notOk(await isLoggedIn(browser), 'whoever knew the cookies before the login has nothing of it')
  t.equal((await done(cookiesOf(response))).statusCode, 403, 'a replay')
  t.equal((await post('/login/saml', `SAMLResponse=${id}`)).statusCode, 403, 'not verified')
})

t.test('SAML: what @node-saml/node-saml does not accept logs nobody in', async (t) => {
  const issuer = 'http://localhost:3000'
  const callbackUrl = `${issuer}/login/saml`
  const { entryPoint, respond } = await samlProvider(t, issuer, callbackUrl)
  const config = { entryPoint, idpCert: SAML_CERTIFICATE, issuer, audience: issuer, callbackUrl }
  const provider = nodeSaml(config)
  t.match(await provider.requestUrl('_an-id'), `${entryPoint}?SAMLRequest=`)
  const response = await respond('_an-id', 'u-1')
  t.strictSame(await provider.verify(response), { user: 'u-1', inResponseTo: '_an-id' })

  const xml = Buffer.from(response, 'base64').toString()
  t.match(xml, 'u-1')
  const changed = Buffer.from(xml.replaceAll('>u-1<', '>u-2<')).toString('base64')
  const unsolicited = await respond('', 'u-1')
  for (const [name, text] of Object.entries({ changed, unsolicited, empty: '', none: 'x' })) {
    await t.rejects(provider.verify(text), { message: /./ }, name)
  }
  await t.rejects(nodeSaml({ ...config, audience: 'http://other.example' }).verify(response), 'another audience')
})

t.test('a login that has begun is in a cookie of ten minutes, and not in a session', async (t) => {
  const { app, get } = await start(t, saml)
  const stranger = await get('/login')
  t.strictSame(stranger.cookies.map(({ name }) => name.replace(/_.*/, '')), ['login-'], 'a stranger has no session')
  t.match(stranger.cookies, [{ path: '/login', httpOnly: true, sameSite: 'Lax', maxAge: 600 }])

  const long = await get(`/login?next=/${'x'.repeat(1999)}`)
  t.ok(String(long.headers['set-cookie']).length < 4096, 'browsers keep it')
  const names = (response: LightMyRequestResponse, maxAge: number) =>
    response.cookies.filter((cookie) => cookie.maxAge === maxAge).map(({ name }) => name)
  const jar: Cookies = {}
  const begun: string[] = []
  for (let tab = 1; tab <= 4; tab++) {
    const response = await get('/login', jar)
    begun.push(...names(response, 600))
    t.strictSame(names(response, 0), tab < 4 ? [] : [begun[0]], `tab ${tab}`)
    Object.assign(jar, cookiesOf(response))
  }

  const { name, value } = stranger.cookies[0] as { name: string, value: string }
  const id = name.slice('login-'.length)
  const done = async (cookies: Cookies) => {
    const saml = app.signCookie(`${id} u-1`)
    return (await get('/login/done', { saml, ...cookies })).headers.location
  }
  t.equal(await done({ [name]: value }), '/')
  const ended = (change: object) => {
    const text = JSON.stringify({ state: id, next: '/', expires: Date.now() + 60_000, ...change })
    return app.signCookie(`login-${Buffer.from(text).toString('base64url')}`)
  }
  t.equal(await done({ [name]: ended({}) }), '/')
  const refused = {
    expired: ended({ expires: Date.now() - 1 }),
    'of another tab': ended({ state: 'another' }),
    'not signed': value.replace(/\.[^.]*$/, ''),
    'another signed cookie': app.signCookie(`${id} u-1`)
  }
  for (const [what, cookie] of Object.entries(refused)) t.equal(await done({ [name]: cookie }), undefined, what)
})

t.test('a second factor: the password alone gets no code, and guesses end', async (t) => {
  const { app, get, post, isLoggedIn } = await start(t, secondFactorLogin)
  const begin = async (): Promise<[Cookies, string]> => {
    const response = await post('/login?return_to=/', USER)
    t.equal(response.headers.location, '/second-factor?return_to=/')
    const cookies = cookiesOf(response)
    const page = (await get('/second-factor', cookies)).body
    return [cookies, /<output>(\d{6})</.exec(page)?.[1] ?? '']
  }
  const enter = async (cookies: Cookies, code: string) => await app.inject({
    method: 'POST', url: '/second-factor', cookies, headers: { 'content-type': FORM }, payload: `code=${code}`
  })
  const [cookies, code] = await begin()
  t.notOk(await isLoggedIn(cookies), 'after the password')
  t.match((await get(AUTHORIZE, cookies)).headers.location, /^\/login\?return_to=/)
  const entered = await enter(cookies, code)
  t.equal(entered.statusCode, 303)
  t.ok(await isLoggedIn(cookiesOf(entered)), 'after the code')
  t.notOk(await isLoggedIn(cookies), 'the session has a new name')

  const [guessing, right] = await begin()
  const wrong = right === '000000' ? '000001' : '000000'
  for (let guess = 1; guess <= 5; guess++) t.equal((await enter(guessing, wrong)).statusCode, 400, `guess ${guess}`)
  t.equal((await enter(guessing, right)).headers.location, '/login')
  t.notOk(await isLoggedIn(guessing))
})

t.test('OpenID Connect: a link does not log its reader in as the attacker', async (t) => {
  const partner = `http://localhost:${await freePort()}`
  const callback = `${partner}/login/callback`
  const provider = await openidProvider(t, callback, SECRET)
  const client = await discovery(new URL(provider), 'acme', SECRET, undefined, { execute: [allowInsecureRequests] })
  const { app, get, isLoggedIn } = await start(t, federatedLogin(client, callback))
  await app.listen({ port: Number(new URL(partner).port), host: 'localhost' })

  const attacker = new Browser()
  let { url } = await attacker.open(`${partner}/login`)
  let init: RequestInit = { method: 'POST', body: new URLSearchParams({ user: 'u-1' }) }
  while (!url.startsWith(callback)) {
    const { headers } = await attacker.fetch(url, init)
    url = new URL(String(headers.get('location')), url).href
    init = {}
  }
  const link = url.slice(partner.length)
  t.match(link, /^\/login\/callback\?code=.+&state=/)
  const victim = cookiesOf(await get('/login'))
  const response = await get(link, victim)
  t.equal(response.statusCode, 403)
  t.notOk(await isLoggedIn({ ...victim, ...cookiesOf(response) }))
  t.match((await attacker.open(url)).text, 'Good day, Ada Okafor', 'the browser that has begun it is logged in')
})

t.test('bearer: a token is exchanged for a cookie that serves once, and nothing else is', async (t) => {
  const { app, get, post, isLoggedIn } = await start(t, bearerLogin)
  const exchange = async (token: string) =>
    await post('/api/portal-session', {}, { authorization: `Bearer ${token}` })
  const none = token({ ...API, sub: 'u-99' })
  for (const wrong of ['', token(API, 'another secret'), none, token({ ...API, aud: 'portal' })]) {
    t.equal((await exchange(wrong)).statusCode, 401, wrong)
  }
  for (const wrong of [token(API), token({ ...API, aud: 'portal' }, 'another secret')]) {
    t.notOk(await isLoggedIn({ portal_session: wrong }), wrong)
  }
  const response = await exchange(token(API))
  t.match(response.headers['set-cookie'], /^portal_session=\S+; Max-Age=60; Path=\/oauth; HttpOnly; SameSite=Lax$/)
  t.strictSame(response.json(), { returnTo: '/' }, 'the portal did not ask')
  const { headers } = await get(AUTHORIZE, cookiesOf(response))
  t.match(headers.location, 'code=')
  const removal = /portal_session=; Max-Age=0; Path=\/oauth;/
  t.match(headers['set-cookie'], removal)
  const logout = await app.inject({ method: 'DELETE', url: '/api/portal-session' })
  t.match(logout.headers['set-cookie'], removal, 'as the logout does')
})

t.test('behind a proxy that removes a path, check finds nothing, and an ordinary login stays below it', async (t) => {
  const { app, get, post } = await start(t, removedPathLogin)
  const port = new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port
  const proxy = createServer((request, response) => {
    const { method, url, headers } = request
    const path = url?.startsWith('/partner/') === true ? url.slice('/partner'.length) : '/not-of-this-app'
    request.pipe(ask({ port, method, path, headers }, (passed) => {
      response.writeHead(passed.statusCode ?? 500, passed.headers)
      passed.pipe(response)
    }))
  })
  const baseUrl = `http://127.0.0.1:${await listen(t, proxy)}/partner`
  const { clientId, clientSecret, redirectUri } = PORTAL
  const user = { login: { user: 'u-1' } }
  const { ok, rules, stopped } = await double({ baseUrl, clientId, clientSecret, redirectUri }).check({ user })
  t.strictSame([stopped, rules.filter(({ outcome }) => outcome === 'fail')], [undefined, []])
  t.ok(ok)

  const { headers } = await get(AUTHORIZE)
  t.match(headers.location, /^\/partner\/login\?return_to=/)
  t.equal((await post('/login', USER)).headers.location, '/partner/', 'no sign-in led here')
})

t.test('next leads to this app alone', async (t) => {
  const own = '/oauth/authorize?state=%2F%2F'
  t.equal(nextOf({ query: { next: own } } as never), own)
  const long = `/${'x'.repeat(2000)}`
  const foreign = ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', ['//evil.example']]
  t.equal(nextOf({ query: { next: long } } as never), '/', 'its cookie would not fit')
  for (const next of foreign) t.equal(nextOf({ query: { next } } as never), '/', JSON.stringify(next))
})
