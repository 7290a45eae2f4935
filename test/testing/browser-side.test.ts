// The browser half: cookies as a browser keeps them, redirects as a browser follows them.
import Fastify from 'fastify'
import t from 'tap'
import { Browser, isCallback } from '../../lib/flow/browser.ts'
import { CookieJar, parseGiven } from '../../lib/flow/cookies.ts'
import { portal } from '../../lib/testing/index.ts'
import type { LoginPage } from '../../lib/testing/index.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { listening, partner, PORTAL, REDIRECT_URI, sessionOf, SETTINGS } from '../helpers/partner.ts'
import { respond, responding } from '../helpers/responses.ts'

await t.test('cookies: path, expiry, removal, several', async (t) => {
  const seen: Array<[string, string]> = []
  const cookies = [
    'kept=1; Path=/', 'below=1; Path=/oauth', 'elsewhere=1; Path=/login', 'default=1', 'slash=1; Path=/oauth/',
    'odd=1; Path=oauth', 'gone=1; Max-Age=0', 'past=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    'later=1; Max-Age=60; Secure; SameSite=Lax', 'given=; Max-Age=-1', '=nameless', 'flag'
  ]
  const baseUrl = await httpServer(t, ({ url = '', headers, method = '' }, response) => {
    seen.push([`${method} ${url.split('?')[0]}`, headers.cookie ?? ''])
    if (seen.length === 1) return respond(response, 307, '', { 'Set-Cookie': cookies, Location: '/oauth/again' })
    return respond(response, 302, '', { Location: `${REDIRECT_URI}?error=access_denied` })
  })
  const attributes = 'path=/; Domain=localhost; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=60; SameSite=Lax; ' +
    'Secure; HttpOnly; Partitioned; Priority=High'
  await portal({ baseUrl, ...SETTINGS }).signIn({ cookies: `=nothing; given=1;; also=2; ${attributes};` })
  t.strictSame(seen, [
    ['GET /oauth/authorize', 'given=1; also=2'],
    ['GET /oauth/again', 'slash=1; below=1; default=1; odd=1; later=1; flag=; given=1; also=2; kept=1']
  ])
})

await t.test('several cookies of one response, in-process', async (t) => {
  const seen: Array<string | undefined> = []
  const app = Fastify()
  app.get('/oauth/authorize', async ({ headers: { cookie } }, reply) => {
    seen.push(cookie)
    if (cookie !== undefined) return await reply.redirect(`${REDIRECT_URI}?error=access_denied`)
    return await reply.header('set-cookie', ['a=1; Path=/', 'b=2; Path=/']).redirect('/oauth/authorize')
  })
  await portal({ app, ...SETTINGS }).signIn()
  t.strictSame(seen, [undefined, 'a=1; b=2'])
})

for (const dropping of [301, 302, 303]) {
  await t.test(`307 and 308 keep the method and content of a login form, ${dropping} does not`, async (t) => {
    const redirects: Record<string, [status: number, location: string]> = {
      '/login': [307, '/second'],
      '/second': [308, '/third'],
      '/third': [dropping, '/fourth'],
      '/fourth': [302, `${REDIRECT_URI}?error=access_denied`]
    }
    const seen: string[] = []
    const baseUrl = await httpServer(t, async (request, response) => {
      const { url = '', method = '', headers } = request
      const path = url.split('?')[0] as string
      const body = Buffer.concat(await request.toArray()).toString()
      seen.push(`${method} ${path} ${headers['content-type'] ?? 'no form'} ${body}`.trim())
      t.equal(headers.accept, 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 'a page is asked for')
      if (path === '/oauth/authorize') return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<form>')
      const [status, Location] = redirects[path] as [number, string]
      return response.writeHead(status, { Location }).end()
    })
    const login = (page: LoginPage) => page.post({ user: 'ada' }, '/login')
    const result = await portal({ baseUrl, ...SETTINGS }).signIn({ login })
    const form = 'application/x-www-form-urlencoded user=ada'
    t.strictSame(seen, [
      'GET /oauth/authorize no form', `POST /login ${form}`, `POST /second ${form}`, `POST /third ${form}`,
      'GET /fourth no form'
    ])
    t.match(result, { error: 'access_denied' })
  })
}

await t.test('Location is followed with the statuses of a redirect, and with no other', async (t) => {
  const arrives = async (status: number) => {
    const baseUrl = await responding(t, status, '', { Location: `${REDIRECT_URI}?error=access_denied` })
    return await portal({ baseUrl, ...SETTINGS }).signIn()
  }
  const redirects = [301, 302, 303, 307, 308]
  for (const status of redirects) t.match(await arrives(status), { error: 'access_denied' }, `${status}`)
  for (const status of [201, 300, 304]) t.match(await arrives(status), { error: 'not_redirected' }, `${status}`)
})

await t.test('a callback with a query of its own', async (t) => {
  const redirectUri = 'https://portal.example/cb?tenant=7'
  const app = partner({ options: { portal: { ...PORTAL, redirectUri } } })
  t.match(await portal({ app, ...SETTINGS, redirectUri }).signIn({ cookies: sessionOf('ada') }), { ok: true })
  const other = portal({ app, ...SETTINGS, redirectUri: 'https://portal.example/cb?tenant=8' })
  t.match(await other.signIn({ cookies: sessionOf('ada') }), { ok: false, error: 'refused' })
})

await t.test('the callback is told by its origin, its path and each parameter of its own', (t) => {
  const redirectUri = new URL('https://portal.example/cb?tenant=7&mode=a')
  for (const [address, expected] of [
    ['https://portal.example/cb?tenant=7&mode=a&code=x', true],
    ['https://portal.example/cb?code=x&mode=a&tenant=8&tenant=7', true],
    ['https://portal.example/cb?tenant=7&mode=b&code=x', false],
    ['https://portal.example/cb?tenant=7&code=x', false],
    ['https://portal.example/cb?code=x', false],
    ['https://portal.example/cb/?tenant=7&mode=a', false],
    ['http://portal.example/cb?tenant=7&mode=a', false],
    ['https://portal.example:1/cb?tenant=7&mode=a', false],
    ['https://www.portal.example/cb?tenant=7&mode=a', false]
  ] as const) t.equal(isCallback(address, redirectUri), expected, address)
  t.end()
})

await t.test('a prefix, with and without slashes, after the path of the base URL', async (t) => {
  const { app, baseUrl } = await listening(t, { options: { prefix: '/partner/sso' } })
  for (const where of [
    { app, prefix: '/partner/sso' },
    { app, prefix: 'partner/sso/' },
    { baseUrl: new URL('/partner/', baseUrl).href, prefix: '/sso' }
  ]) t.match(await portal({ ...where, ...SETTINGS }).signIn({ cookies: sessionOf('ada') }), { ok: true }, where.prefix)
})

await t.test('parameters of the authorization request can be changed, left out, repeated', async (t) => {
  const app = partner()
  const { authorize } = portal({ app, ...SETTINGS })
  const ada = { cookies: sessionOf('ada') }
  t.match(await authorize(), { ok: false, error: 'login_required' })
  const implicit = await authorize(ada, { response_type: 'token' })
  t.match(implicit, { ok: false, step: 6, error: 'unsupported_response_type' })
  t.match(await authorize(ada, { scope: undefined }), { ok: true, code: /./, state: /^[\w-]{43}$/ })
  t.match(await authorize(ada, { state: ['a', 'b'] }), { ok: false, error: 'invalid_request' })
})

await t.test('a cookie is sent where RFC 6265 says, and nowhere else', async (t) => {
  const sent = (line: string, address: string): string => {
    const jar = new CookieJar()
    jar.take(line, new URL('/', address))
    return jar.header(new URL(address))
  }
  t.equal(sent('a=1; Path=/login', 'https://partner.example/login'), 'a=1')
  t.equal(sent('a=1; Path=/login', 'https://partner.example/login/more'), 'a=1')
  t.equal(sent('a=1; Path=/login', 'https://partner.example/loginx'), '')
  t.equal(sent('a=1; Secure', 'http://partner.example/'), '')
  t.equal(sent('a=1; Secure', 'https://partner.example/'), 'a=1')
  for (const host of ['localhost', 'app.localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
    t.equal(sent('a=1; Secure', `http://${host}/`), 'a=1', `browsers trust the own machine: ${host}`)
  }
  for (const host of ['localhost.evil.example', '127.0.0.1.evil.example', 'notlocalhost', '127.evil.example']) {
    t.equal(sent('a=1; Secure', `http://${host}/`), '', host)
  }
  for (const domain of ['', 'sso.partner.example', '.sso.partner.example', 'partner.example', '.Partner.Example']) {
    t.equal(sent(`a=1; Domain=${domain}`, 'https://sso.partner.example/'), 'a=1', `Domain=${domain}`)
  }
  for (const domain of ['www.partner.example', '.a.sso.partner.example', 'artner.example', 'o.partner.example', '..']) {
    t.equal(sent(`a=1; Domain=${domain}`, 'https://sso.partner.example/'), '', `Domain=${domain}`)
  }
  t.equal(sent('a=dGV4dA==', 'https://partner.example/'), 'a=dGV4dA==', 'only the first equals sign divides')
  const past = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT'
  const future = 'Expires=Thu, 01 Jan 2970 00:00:00 GMT'
  t.equal(sent(`a=1; ${past}; Max-Age=60`, 'https://partner.example/'), 'a=1')
  t.equal(sent(`a=1; ${future}; Max-Age=0`, 'https://partner.example/'), '')
})

await t.test('cookies that browsers refuse, and why', async (t) => {
  const refused = (line: string, address = 'https://sso.partner.example/'): Array<string | undefined> => {
    const jar = new CookieJar()
    jar.take(line, new URL(address))
    return [jar.header(new URL(address)), jar.refused.get(line.split('=')[0] as string)]
  }
  for (const [line, why] of [
    [`a=${'x'.repeat(4096)}`, 'it has 4097 bytes, and browsers keep 4096'],
    ['a=1; Domain=other.example', 'its Domain is other.example, and the service is at sso.partner.example'],
    ['__Host-a=1; Secure; Path=/; Domain=partner.example', '__Host- needs Path=/ and no Domain'],
    ['__Host-a=1; Secure', '__Host- needs Path=/ and no Domain'],
    ['__Host-a=1; Path=/', 'its name begins as that of a Secure cookie, which it is not'],
    ['__Secure-a=1', 'its name begins as that of a Secure cookie, which it is not'],
    ['a=1; SameSite=None', 'SameSite=None needs Secure'],
    ['a=1; Partitioned', 'Partitioned needs Secure']
  ] as const) t.strictSame(refused(line), ['', why], line)
  t.strictSame(refused('a=1; Secure', 'http://partner.example/'), ['', 'it is Secure, and the address is http'])
  for (const line of ['__Host-a=1; Secure; Path=/', '__Secure-a=1; Secure', 'a=1; Max-Age=0; Domain=other.example']) {
    t.equal(refused(line)[1], undefined, line)
  }
})

await t.test('a given cookie that the service renews is sent once, with its new value', async (t) => {
  const names = ['sid=old', 'sid=old; SameSite=Lax', 'Set-Cookie: sid=old', 'Set-Cookie: sid=old; SameSite=Lax']
  const attributes = { '': '/a/b', '; Path=/a': '/a/b', '; Path=/': '/' }
  for (const [attribute, renewedAt] of Object.entries(attributes)) {
    for (const given of names.map((name) => name + attribute)) {
      for (const renewed of ['sid=new', `sid=new${attribute}`, 'sid=new; HttpOnly']) {
        const jar = new CookieJar(parseGiven(given))
        jar.take(renewed, new URL(renewedAt, 'https://partner.example'))
        t.equal(jar.header(new URL('https://partner.example/a/c')), 'sid=new', `${given}, then ${renewed}`)
      }
    }
  }
})

await t.test('a login opens addresses relative to its page', async (t) => {
  const seen: string[] = []
  const baseUrl = await httpServer(t, ({ url = '', method = '' }, response) => {
    seen.push(`${method} ${url.replace(/\?return_to=.*/, '?return_to')}`)
    if (seen.length === 1) return response.writeHead(302, { Location: '/account/login?return_to=%2F' }).end()
    return respond(response, 200, '<form>', { 'Content-Type': 'text/html' })
  })
  await portal({ baseUrl, ...SETTINGS }).signIn({
    login: async (page) => {
      for (const address of ['form', './form', '../form', '/form', '?step=2', `${baseUrl}/other/form`]) {
        await page.get(address)
        await page.post({ user: 'ada' }, address)
      }
      await page.post({ user: 'ada' })
    }
  })
  const opened = ['/account/form', '/account/form', '/form', '/form', '/account/login?step=2', '/other/form']
  t.strictSame(seen.slice(2, -1), [
    ...opened.flatMap((address) => [`GET ${address}`, `POST ${address}`]), 'POST /account/login?return_to'
  ])
})

await t.test('a login cannot take the user\u2019s cookies to another origin', async (t) => {
  const app = partner()
  const signIn = portal({ app, ...SETTINGS }).signIn({
    cookies: 'other=secret',
    login: (page) => page.post({ user: 'ada' }, 'http://127.0.0.1:1/login')
  })
  await t.rejects(signIn, { message: 'http://127.0.0.1:1 is not the service: nothing is sent there' })
})

await t.test('cookies given as an object are sent over http, to any host', async (t) => {
  const { baseUrl } = await listening(t)
  // Leads to this machine, but browsers would not send it a Secure cookie.
  const address = baseUrl.replace('127.0.0.1', '0.0.0.0')
  const cookies = { sid: sessionOf('ada').slice('sid='.length) }
  t.match(await portal({ baseUrl: address, ...SETTINGS }).signIn({ cookies }), { ok: true })
})

await t.test('a renewed cookie is taken; one of another path stands beside it', async (t) => {
  const seen: Array<string | undefined> = []
  const lines = ['sid=renewed; Path=/', 'sid=below; Path=/oauth/authorize', 'other=1; Domain=other.example']
  const baseUrl = await httpServer(t, ({ headers }, response) => {
    seen.push(headers.cookie)
    const Location = seen.length === 1 ? '/oauth/authorize/next' : `${REDIRECT_URI}?error=access_denied`
    response.writeHead(302, { 'Set-Cookie': lines, Location }).end()
  })
  await portal({ baseUrl, ...SETTINGS }).signIn({ cookies: { sid: 'given' } })
  t.strictSame(seen, ['sid=given', 'sid=below; sid=renewed'])
})

await t.test('the callback of another host, and a status that is no success, are no arrival', async (t) => {
  const to = async (status: number, location: string) => {
    const baseUrl = await httpServer(t, ({ url = '' }, response) => {
      const state = String(new URL(url, 'http://x').searchParams.get('state'))
      response.writeHead(status, { Location: `${location}?code=abcdef&state=${state}` }).end()
    })
    return await portal({ baseUrl, ...SETTINGS }).authorize()
  }
  t.match(await to(302, REDIRECT_URI), { ok: true })
  t.match(await to(302, REDIRECT_URI.replace('localhost', '127.0.0.1')), { ok: false })
  t.match(await to(201, REDIRECT_URI), { ok: false, error: 'not_redirected' })
  const created = await responding(t, 201, { token_type: 'Bearer', access_token: 'abcdef' })
  t.match(await portal({ baseUrl: created, ...SETTINGS }).token('abcdef'), { ok: false, error: 'unexpected_status' })
})

await t.test('a downgrade to http sends no cookies', async (t) => {
  const asked: string[] = []
  const settings = createIntegration({ baseUrl: 'https://partner.example', ...SETTINGS })
  const send: typeof settings.send = async (request) => {
    asked.push(request.url)
    const headers = [['Location', 'http://partner.example/login']] as const
    return { request, response: { status: 302, headers, body: '' }, milliseconds: 1 }
  }
  const browser = new Browser({ ...settings, send }, new CookieJar([{ name: 'sid', value: 'a', secure: false }]))
  t.match(await browser.open('https://partner.example/oauth/authorize'), { at: 'elsewhere' })
  t.strictSame(asked, ['https://partner.example/oauth/authorize'])
})

await t.test('token() without a verifier sends none, with PKCE too', async (t) => {
  const bodies: string[] = []
  const baseUrl = await httpServer(t, async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString())
    response.writeHead(400).end()
  })
  await portal({ baseUrl, ...SETTINGS, pkce: true }).token('abcdef')
  await portal({ baseUrl, ...SETTINGS }).token('abcdef', { verifier: 'the-verifier' })
  t.strictSame(bodies.map((body) => new URLSearchParams(body).get('code_verifier')), [null, 'the-verifier'])
})
