// The logins that people copy, and those who attack them. How they work in a browser: test/browser/logins.test.ts.
import { createHmac } from 'node:crypto'
import type { FastifyInstance, FastifyServerOptions, LightMyRequestResponse } from 'fastify'
import { allowInsecureRequests, discovery } from 'openid-client'
import t from 'tap'
import type { Test } from 'tap'
import { bearerLogin } from '../../examples/logins/bearer.ts'
import { cookiePathLogin } from '../../examples/logins/cookie-path.ts'
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
import { injecting, wire } from '../helpers/wire.ts'
import type { Wire } from '../helpers/wire.ts'

const SECRET = 'a secret of at least thirty-two characters'

interface Started {
  app: FastifyInstance
  at: Wire
  /** Sends a request with these cookies. */
  send (method: 'GET' | 'POST' | 'DELETE', url: string, given?: Given): Promise<LightMyRequestResponse>
  /** Whether a browser with these cookies gets a code. */
  isLoggedIn (cookies: Cookies): Promise<boolean>
}

type Cookies = Record<string, string>
interface Given { cookies?: Cookies, headers?: Record<string, string>, form?: Record<string, string>, json?: object }

async function start (t: Test, login: Login, trustProxy: FastifyServerOptions['trustProxy'] = false): Promise<Started> {
  const settings = { portal: PORTAL, cookieSecret: SECRET, logger: false, sso: { store: 'memory' } } as const
  const app = await partnerApp({ ...settings, login, trustProxy })
  t.teardown(() => app.close())
  const at = wire(login === cookiePathLogin ? '/app' : '', undefined, { fetch: injecting(app) })
  return {
    app,
    at,
    send: async (method, url, { cookies = {}, headers = {}, form, json } = {}) => await app.inject({
      method,
      url,
      cookies,
      headers: { ...form && { 'content-type': 'application/x-www-form-urlencoded' }, ...headers },
      ...form ? { payload: new URLSearchParams(form).toString() } : json ? { payload: json } : {}
    }),
    async isLoggedIn (cookies) {
      const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ')
      return (await at.authorize({}, null, { cookie })).redirect.has('code')
    }
  }
}

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

const logins: Record<string, { login: Login, path: string, given: Given }> = {
  form: { login: formLogin, path: '/login', given: { form: { user: 'u-1' } } },
  'single-page': { login: singlePageLogin, path: '/api/login', given: { json: { user: 'u-1' } } },
  'cookie-path': { login: cookiePathLogin, path: '/app/login', given: { form: { user: 'u-1' } } },
  saml: { login: saml, path: '/login/saml', given: { form: { SAMLResponse: 'an-id u-1' } } }
}

for (const [name, { login, path, given }] of Object.entries(logins)) {
  t.test(`${name}: no session, and one that was made up`, async (t) => {
    const { isLoggedIn } = await start(t, login)
    for (const value of ['', 'u-1', 'u-1.made-up', 'u-1.bWFkZS11cA', '%', 'null']) {
      t.notOk(await isLoggedIn({ session: value, sessionId: value, saml: value }), value)
    }
  })

  t.test(`${name}: its cookie is Secure behind a proxy that is trusted and ends TLS`, async (t) => {
    const headers = { 'x-forwarded-proto': 'https' }
    for (const [trustProxy, secure] of [['127.0.0.1', true], [false, undefined], ['192.0.2.1', undefined]] as const) {
      const { send } = await start(t, login, trustProxy)
      const { cookies } = await send('POST', path, { ...given, headers })
      t.match(cookies, [{ httpOnly: true, sameSite: 'Lax' }], String(trustProxy))
      t.equal(cookies[0]?.secure, secure, String(trustProxy))
    }
  })
}

t.test('a page of another site logs nobody in or out', async (t) => {
  for (const [login, path] of [[formLogin, ''], [cookiePathLogin, '/app']] as const) {
    const { send, isLoggedIn } = await start(t, login)
    const form = { user: 'u-1' }
    const post = async (route: string, site: string, cookies: Cookies = {}): Promise<LightMyRequestResponse> =>
      await send('POST', `${path}/${route}`, { form, cookies, headers: { 'sec-fetch-site': site } })
    const cookies = cookiesOf(await post('login', 'same-origin'))
    for (const site of ['cross-site', 'same-site']) {
      for (const route of ['login', 'register', 'logout']) {
        t.equal((await post(route, site, cookies)).statusCode, 403, `${route} ${site}`)
      }
    }
    t.ok(await isLoggedIn(cookies), path)
  }
  const { send } = await start(t, singlePageLogin)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const headers = { 'content-type': type }
    const { cookies } = await send('POST', '/api/login', { json: { user: 'u-1' }, headers })
    t.strictSame(cookies, [], type)
  }
})

t.test('SAML: an assertion logs in the browser that asked for it, once, in a session of a new name', async (t) => {
  const { send, isLoggedIn } = await start(t, saml)
  const begin = async (): Promise<[id: string, cookies: Cookies]> => {
    const response = await send('GET', '/login?next=/orders')
    return [String(response.headers.location).split('id=')[1] as string, cookiesOf(response)]
  }
  const assert = async (id: string): Promise<Cookies> =>
    cookiesOf(await send('POST', '/login/saml', { form: { SAMLResponse: `${id} u-1` } }))
  const [[own, session], [, victim]] = [await begin(), await begin()]
  const assertion = await assert(own)
  for (const [name, cookies] of Object.entries({ 'no session': {}, 'the session of another login': victim })) {
    const { statusCode } = await send('GET', '/login/done', { cookies: { ...cookies, ...assertion } })
    t.equal(statusCode, 403, name)
    t.notOk(await isLoggedIn(cookies), name)
  }
  const done = await send('GET', '/login/done', { cookies: { ...session, ...assertion } })
  t.equal(done.headers.location, '/orders')
  t.ok(await isLoggedIn(cookiesOf(done)))
  t.notOk(await isLoggedIn(session), 'who knew the session before the login has nothing of it')
  const replayed = await send('GET', '/login/done', { cookies: { ...cookiesOf(done), ...assertion } })
  t.equal(replayed.statusCode, 403)
  t.equal((await send('POST', '/login/saml', { form: { SAMLResponse: own } })).statusCode, 403, 'not verified')
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
  const victim = cookiesOf(await send('GET', '/login'))
  for (const [name, cookies] of Object.entries({ 'no session': {}, 'the session of another login': victim })) {
    for (const given of [link, link.replace(/&state=[^&]+/, ''), link.replace(/&state=[^&]+/, '&state=constructor')]) {
      const response = await send('GET', given, { cookies })
      t.equal(response.statusCode, 403, `${name}: ${given}`)
      t.notOk(await isLoggedIn({ ...cookies, ...cookiesOf(response) }), `${name}: ${given}`)
    }
  }
  t.match((await attacker(url)).text, 'Good day, Ada Okafor', 'the browser that has begun it is logged in')
})

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function token (claims: object, secret = SECRET): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

t.test('bearer: a token is exchanged for a cookie that serves once, and nothing else is', async (t) => {
  const { send, at, isLoggedIn } = await start(t, bearerLogin)
  const exchange = async (token: string) =>
    await send('POST', '/api/portal-session', { headers: { authorization: `Bearer ${token}` }, json: {} })
  const api = { sub: 'u-1', aud: 'api' }
  for (const wrong of [
    '', 'x', `${part({ alg: 'none' })}.${part(api)}.`, token({ ...api, exp: 1 }), token(api, 'another secret'),
    token({ ...api, sub: 'u-99' }), token({ ...api, aud: 'portal' }), token({ sub: 'u-1' })
  ]) {
    t.equal((await exchange(wrong)).statusCode, 401, wrong)
  }
  for (const wrong of [token(api), token({ ...api, aud: 'portal' }, 'another secret')]) {
    t.notOk(await isLoggedIn({ portal_session: wrong }), wrong)
  }
  const response = await exchange(token(api))
  t.match(response.headers['set-cookie'], /^portal_session=\S+; Max-Age=60; Path=\/oauth; HttpOnly; SameSite=Lax$/)
  t.strictSame(response.json(), { returnTo: '/' }, 'the portal did not ask')
  const { headers, redirect } = await at.authorize({}, null, { cookie: String(response.headers['set-cookie']) })
  t.ok(redirect.has('code'))
  const removal = /portal_session=; Max-Age=0; Path=\/oauth;/
  t.match(headers.get('set-cookie'), removal)
  t.match((await send('DELETE', '/api/portal-session')).headers['set-cookie'], removal, 'as the logout does')
})

t.test('next leads to this app alone', async (t) => {
  const own = ['/', '/orders?a=b', '/oauth/authorize?state=%2F%2F']
  const foreign = [
    'https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', '\t//evil.example',
    'javascript:alert(1)', 'evil', '', undefined, ['/a', '//evil.example'], '/é'
  ]
  for (const [given, expected] of [...own.map((path) => [path, path]), ...foreign.map((text) => [text, '/'])]) {
    t.equal(nextOf({ query: { next: given } } as never), expected, JSON.stringify(given))
  }
})
