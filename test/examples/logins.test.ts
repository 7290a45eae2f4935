// The logins that people copy, and those who attack them. How they work in a browser: test/browser/logins.test.ts.
import { createHmac } from 'node:crypto'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
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
import { browser } from '../helpers/browser.ts'
import { PORTAL } from '../helpers/host.ts'
import { openidProvider } from '../helpers/identity-provider.ts'
import { freePort } from '../helpers/ports.ts'

const SECRET = 'a secret of at least thirty-two characters'

/** A bearer token of the API. */
const API = { sub: 'u-1', aud: 'api' }
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function token (claims: object, secret = SECRET): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

type Cookies = Record<string, string>

interface Started {
  app: FastifyInstance
  /** Sends a GET, or a POST with a form, as a string, or with JSON. */
  send (url: string, given?: InjectOptions): Promise<LightMyRequestResponse>
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
  const send: Started['send'] = async (url, { headers, ...given } = {}) => await app.inject({
    url,
    method: given.payload === undefined ? 'GET' : 'POST',
    headers: { ...typeof given.payload === 'string' && { 'content-type': FORM }, ...headers },
    ...given
  })
  return {
    app,
    send,
    async isLoggedIn (cookies) {
      const { headers } = await send(AUTHORIZE, { cookies })
      return String(headers.location).includes('code=')
    }
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

t.test('no session, and one that was made up', async (t) => {
  const { isLoggedIn } = await start(t, formLogin)
  for (const sessionId of ['', 'u-1', 'u-1.bWFkZS11cA']) t.notOk(await isLoggedIn({ sessionId }), sessionId)
})

t.test('each cookie is Secure behind a proxy that is trusted and ends TLS', async (t) => {
  const rows: Array<[login: Login, url: string, given: InjectOptions]> = [
    [formLogin, '/login', { payload: USER }],
    [saml, '/login/saml', { payload: 'SAMLResponse=an-id+u-1' }],
    [bearerLogin, '/api/portal-session', { payload: {}, headers: { authorization: `Bearer ${token(API)}` } }]
  ]
  for (const [login, url, { headers, ...given }] of rows) {
    for (const [proxy, secure] of [['127.0.0.1', true], ['192.0.2.1', undefined]] as const) {
      const { send } = await start(t, login, proxy)
      const { cookies } = await send(url, {
        ...given,
        headers: { ...headers, 'x-forwarded-proto': 'https' }
      })
      t.match(cookies, [{ httpOnly: true, sameSite: 'Lax' }], `${url} ${proxy}`)
      t.equal(cookies[0]?.secure, secure, `${url} ${proxy}`)
    }
  }
})

t.test('a page of another site logs nobody in or out', async (t) => {
  const rows = [
    [formLogin, ['login', 'register', 'logout']],
    [singlePageLogin, ['logout']],
    [saml, ['logout']]
  ] as const
  for (const [login, routes] of rows) {
    const { send } = await start(t, login)
    for (const site of ['cross-site', 'same-site']) {
      for (const route of routes) {
        const { statusCode } = await send(`/${route}`, { payload: USER, headers: { 'sec-fetch-site': site } })
        t.equal(statusCode, 403, route)
      }
    }
  }
  const { send } = await start(t, singlePageLogin)
  for (const type of ['text/plain', FORM]) {
    const { cookies } = await send('/api/login', { payload: '{"user":"u-1"}', headers: { 'content-type': type } })
    t.strictSame(cookies, [], type)
  }
})

t.test('SAML: an assertion logs in the browser that asked, once, in a session of a new name', async (t) => {
  const { send, isLoggedIn } = await start(t, saml)
  const begin = async (): Promise<[id: string, cookies: Cookies]> => {
    const response = await send('/login?next=/orders')
    return [String(response.headers.location).split('id=')[1] as string, cookiesOf(response)]
  }
  const [own, session] = await begin()
  const [, victim] = await begin()
  const assertion = cookiesOf(await send('/login/saml', { payload: `SAMLResponse=${own}+u-1` }))
  for (const cookies of [{}, victim]) {
    const { statusCode } = await send('/login/done', { cookies: { ...cookies, ...assertion } })
    t.equal(statusCode, 403, JSON.stringify(cookies))
    t.notOk(await isLoggedIn(cookies), JSON.stringify(cookies))
  }
  const done = await send('/login/done', { cookies: { ...session, ...assertion } })
  t.equal(done.headers.location, '/orders')
  t.ok(await isLoggedIn(cookiesOf(done)))
  t.notOk(await isLoggedIn(session), 'who knew the session before the login has nothing of it')
  const replayed = await send('/login/done', { cookies: { ...cookiesOf(done), ...assertion } })
  t.equal(replayed.statusCode, 403)
  t.equal((await send('/login/saml', { payload: `SAMLResponse=${own}` })).statusCode, 403, 'not verified')
})

t.test('OpenID Connect: a link does not log its reader in as the attacker', async (t) => {
  const partner = `http://localhost:${await freePort()}`
  const callback = `${partner}/login/callback`
  const provider = await openidProvider(t, callback, SECRET)
  const client = await discovery(new URL(provider), 'acme', SECRET, undefined, { execute: [allowInsecureRequests] })
  const { app, send, isLoggedIn } = await start(t, federatedLogin(client, callback))
  await app.listen({ port: Number(new URL(partner).port), host: 'localhost' })

  const attacker = browser(callback)
  const { url } = await attacker((await attacker(`${partner}/login`)).url, { user: 'u-1' })
  const link = url.slice(partner.length)
  t.match(link, /^\/login\/callback\?code=.+&state=/)
  const victim = cookiesOf(await send('/login'))
  for (const cookies of [{}, victim]) {
    for (const given of [link, link.replace(/&state=[^&]+/, '')]) {
      const response = await send(given, { cookies })
      t.equal(response.statusCode, 403, given)
      t.notOk(await isLoggedIn({ ...cookies, ...cookiesOf(response) }), given)
    }
  }
  t.match((await attacker(url)).text, 'Good day, Ada Okafor', 'the browser that has begun it is logged in')
})

t.test('bearer: a token is exchanged for a cookie that serves once, and nothing else is', async (t) => {
  const { app, send, isLoggedIn } = await start(t, bearerLogin)
  const exchange = async (token: string) =>
    await send('/api/portal-session', { headers: { authorization: `Bearer ${token}` }, payload: {} })
  for (const wrong of [
    '',
    `${part({ alg: 'none' })}.${part(API)}.`,
    token(API, 'another secret'),
    token({ ...API, exp: 1 }),
    token({ ...API, sub: 'u-99' }),
    token({ ...API, aud: 'portal' }),
    token({ sub: 'u-1' })
  ]) {
    t.equal((await exchange(wrong)).statusCode, 401, wrong)
  }
  for (const wrong of [token(API), token({ ...API, aud: 'portal' }, 'another secret')]) {
    t.notOk(await isLoggedIn({ portal_session: wrong }), wrong)
  }
  const response = await exchange(token(API))
  t.match(response.headers['set-cookie'], /^portal_session=\S+; Max-Age=60; Path=\/oauth; HttpOnly; SameSite=Lax$/)
  t.strictSame(response.json(), { returnTo: '/' }, 'the portal did not ask')
  const { headers } = await send(AUTHORIZE, { cookies: cookiesOf(response) })
  t.match(headers.location, 'code=')
  const removal = /portal_session=; Max-Age=0; Path=\/oauth;/
  t.match(headers['set-cookie'], removal)
  const logout = await app.inject({ method: 'DELETE', url: '/api/portal-session' })
  t.match(logout.headers['set-cookie'], removal, 'as the logout does')
})

t.test('next leads to this app alone', async (t) => {
  const own = '/oauth/authorize?state=%2F%2F'
  const foreign = [
    'https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', '\t//evil.example',
    'javascript:alert(1)', '', undefined, ['/a', '//evil.example'], '/é'
  ]
  for (const next of [own, ...foreign]) {
    t.equal(nextOf({ query: { next } } as never), next === own ? own : '/', JSON.stringify(next))
  }
})
