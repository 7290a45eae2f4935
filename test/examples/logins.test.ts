// The logins that people copy, and those who attack them. How they work in a browser: test/browser/logins.test.ts.
import { createHmac } from 'node:crypto'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { allowInsecureRequests, discovery } from 'openid-client'
import t from 'tap'
import type { Test } from 'tap'
import { bearerLogin } from '../../examples/logins/bearer.ts'
import { federatedLogin } from '../../examples/logins/federated.ts'
import { formLogin } from '../../examples/logins/form.ts'
import { nextOf } from '../../examples/logins/next.ts'
import { samlLogin } from '../../examples/logins/saml.ts'
import type { Login } from '../../examples/logins/settings.ts'
import { singlePageLogin } from '../../examples/logins/single-page.ts'
import { partnerApp } from '../../examples/partner-app.ts'
import { Browser } from '../helpers/browser.ts'
import { PORTAL } from '../app.ts'
import { openidProvider } from '../helpers/identity-provider.ts'
import { freePort } from '../helpers/ports.ts'

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
    [saml, ['logout']]
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
  const [session, victim] = [cookiesOf(begun), cookiesOf(await get('/login'))]
  const id = String(begun.headers.location).split('id=')[1]
  const assertion = cookiesOf(await post('/login/saml', `SAMLResponse=${id}+u-1`))
  const done = async (cookies: Cookies) => await get('/login/done', { ...cookies, ...assertion })

  for (const cookies of [{}, victim]) {
    t.equal((await done(cookies)).statusCode, 403, JSON.stringify(cookies))
    t.notOk(await isLoggedIn(cookies), JSON.stringify(cookies))
  }
  const response = await done(session)
  t.equal(response.headers.location, '/orders')
  t.ok(await isLoggedIn(cookiesOf(response)))
  t.notOk(await isLoggedIn(session), 'who knew the session before the login has nothing of it')
  t.equal((await done(cookiesOf(response))).statusCode, 403, 'a replay')
  t.equal((await post('/login/saml', `SAMLResponse=${id}`)).statusCode, 403, 'not verified')
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

t.test('next leads to this app alone', async (t) => {
  const own = '/oauth/authorize?state=%2F%2F'
  t.equal(nextOf({ query: { next: own } } as never), own)
  const foreign = ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', ['//evil.example']]
  for (const next of foreign) t.equal(nextOf({ query: { next } } as never), '/', JSON.stringify(next))
})
