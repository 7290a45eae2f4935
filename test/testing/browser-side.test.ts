// The browser half: cookies as a browser keeps them, redirects as a browser follows them.
import t from 'tap'
import { Browser, formPosted, isCallback } from '../../lib/flow/browser.ts'
import { CookieJar, parseGiven } from '../../lib/flow/cookies.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { logIn } from '../../lib/flow/user.ts'
import type { Headers } from '../../lib/flow/wire.ts'
import { PORTAL, SETTINGS } from '../app.ts'

const SERVICE = 'https://sso.partner.example'

interface Scene { browser: Browser, seen: string[], last: () => Record<string, string> }

/** A browser, and a service that redirects as the table says. */
function scene (redirects: Record<string, [status: number, location: string]>, given = ''): Scene {
  const seen: string[] = []
  let last: Headers = []
  const settings = createIntegration({ baseUrl: SERVICE, ...SETTINGS })
  const send: typeof settings.send = async (request) => {
    const { pathname, search } = new URL(request.url)
    seen.push([request.method, pathname + search, request.body].join(' ').trim())
    last = request.headers
    const [status, location] = redirects[pathname] ?? [200, '']
    return { request, response: { status, headers: [['Location', location]], body: '<form>' }, milliseconds: 1 }
  }
  const browser = new Browser({ ...settings, send }, new CookieJar(parseGiven(given)))
  return { browser, seen, last: () => Object.fromEntries(last) }
}

t.test('307 and 308 keep the method and the form, the other redirects do not', async (t) => {
  const callback = `${PORTAL.redirectUri}?code=x`
  for (const dropping of [301, 302, 303]) {
    const { browser, seen } = scene({
      '/a': [307, '/b'],
      '/b': [308, '/c'],
      '/c': [dropping, '/d?e'],
      '/d': [302, callback]
    })
    const arrival = await browser.open(`${SERVICE}/a`, formPosted([['user', 'ada']]))
    t.match(arrival, { at: 'callback', target: { href: callback } }, `${dropping}`)
    t.strictSame(seen, ['POST /a user=ada', 'POST /b user=ada', 'POST /c user=ada', 'GET /d?e'], `${dropping}`)
  }
})

t.test('where a browser stops', async (t) => {
  for (const [status, location, at] of [
    [201, '/b', 'page'], [300, '/b', 'page'], [304, '/b', 'page'], [302, 'http://[', 'page'],
    [302, PORTAL.redirectUri.replace('portal.', 'other.'), 'elsewhere'],
    [302, 'http://sso.partner.example/login', 'elsewhere'],
    [302, '/a', 'loop']
  ] as const) {
    const { browser, seen } = scene({ '/a': [status, location] }, 'sid=a')
    const arrival = await browser.open(`${SERVICE}/a`)
    const row = `${status} ${location}`
    t.equal(arrival.at, at, row)
    t.equal(seen.length, at === 'loop' ? 11 : 1, row)
  }
  const { browser, seen } = scene({})
  await t.rejects(browser.open('http://127.0.0.1:1/login'), {
    message: 'http://127.0.0.1:1 is not the service: nothing is sent there'
  })
  t.strictSame(seen, [])
})

t.test('a login opens addresses relative to its page, and sends forms as a browser does', async (t) => {
  const { browser, seen, last } = scene({ '/': [302, '/account/login?return_to=%2F'] }, 'sid=a')
  const page = await browser.open(`${SERVICE}/`)
  t.strictSame(last(), { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', Cookie: 'sid=a' })
  await logIn(browser, page, async ({ get, post }) => {
    await post({ user: 'a b' })
    t.match(last(), { Cookie: 'sid=a', Origin: SERVICE, Referer: page.url })
    t.equal(last()['Content-Type'], 'application/x-www-form-urlencoded')
    for (const address of ['form', '../form', '?step=2', `${SERVICE}/other`]) await get(address)
    await post({ user: ['ada', 'bob'] }, './form')
    await post({ user: 'ada', keep: true }, '/api/login', { json: true, headers: { 'x-csrf-token': 'abc' } })
    t.match(last(), { 'Content-Type': 'application/json', Accept: 'application/json', Cookie: 'sid=a' })
    t.match(last(), { Origin: SERVICE, 'x-csrf-token': 'abc' })
  })
  t.strictSame(seen.slice(2), [
    'POST /account/login?return_to=%2F user=a+b', 'GET /account/form', 'GET /form', 'GET /account/login?step=2',
    'GET /other', 'POST /account/form user=ada&user=bob', 'POST /api/login {"user":"ada","keep":true}'
  ])
})

t.test('the callback is told by its origin, its path and each parameter of its own', async (t) => {
  const redirectUri = 'https://portal.example/cb?tenant=7&mode=a'
  for (const [address, expected] of [
    ['https://portal.example/cb?code=x&mode=a&tenant=8&tenant=7', true],
    ['https://portal.example/cb?tenant=7&mode=b&code=x', false],
    ['https://portal.example/cb?tenant=7', false],
    ['https://portal.example/cb/?tenant=7&mode=a', false],
    ['https://portal.example:1/cb?tenant=7&mode=a', false]
  ] as const) t.equal(isCallback(new URL(address), redirectUri), expected, address)
})

/** What browsers send to an address, of a cookie that `/oauth/authorize` of the same host has set. */
const SENT: Array<[line: string, address: string, header: string]> = [
  ['a=dGV4dA==', 'https://x.example/oauth/more', 'a=dGV4dA=='],
  ['a=1', 'https://x.example/oauthx', ''],
  ['a=1; Path=odd', 'https://x.example/oauth', 'a=1'],
  ['a=1; Path=/login', 'https://x.example/login', 'a=1'],
  ['a=1; Path=/login', 'https://x.example/login/more', 'a=1'],
  ['a=1; Path=/login/', 'https://x.example/login/more', 'a=1'],
  ['a=1; Path=/login', 'https://x.example/loginx', ''],
  ['a=1; Path=/; Max-Age=0', 'https://x.example/', ''],
  ['a=1; Path=/; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://x.example/', 'a=1'],
  ['a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://x.example/', ''],
  ['a=1; Path=/; Secure', 'http://x.example/', ''],
  ...['localhost', 'app.localhost', '127.1.2.3', '[::1]']
    .map((host): [string, string, string] => ['a=1; Path=/; Secure', `http://${host}/`, 'a=1']),
  ...['localhost.x.example', '127.0.0.1.x.example', 'notlocalhost']
    .map((host): [string, string, string] => ['a=1; Path=/; Secure', `http://${host}/`, '']),
  ...['', 'a.x.example', '.X.Example']
    .map((domain): [string, string, string] => [`a=1; Path=/; Domain=${domain}`, 'https://a.x.example/', 'a=1']),
  ['=nameless; Path=/', 'https://x.example/', '']
]

t.test('a cookie is sent where RFC 6265 says, and nowhere else', async (t) => {
  for (const [line, address, header] of SENT) {
    const jar = new CookieJar()
    jar.take(line, new URL('/oauth/authorize', address))
    t.equal(jar.header(new URL(address)), header, `${line} at ${address}`)
  }
  const jar = new CookieJar(parseGiven('=nothing; given=1;; also=2; path=/; Domain=x.example; Secure; HttpOnly'))
  for (const line of ['below=1; Path=/a', 'kept=1; Path=/', 'also=; Max-Age=-1', 'below=2; Path=/a']) {
    jar.take(line, new URL(SERVICE))
  }
  t.equal(jar.header(new URL('/a/b', SERVICE)), 'below=2; given=1; also=2; kept=1', 'the longest path first')
  t.equal(jar.header(new URL('/', SERVICE.replace('https', 'http'))), 'kept=1')
})

t.test('cookies that browsers refuse, and why', async (t) => {
  const secure = 'its name begins as that of a Secure cookie, which it is not'
  for (const [line, why, address = SERVICE] of [
    [`a=${'x'.repeat(4095)}`, undefined],
    [`a=${'x'.repeat(4096)}`, 'it has 4097 bytes, and browsers keep 4096'],
    ['a=1; Domain=other.example', 'its Domain is other.example, and the service is at sso.partner.example'],
    ['a=1; Domain=o.partner.example', 'its Domain is o.partner.example, and the service is at sso.partner.example'],
    ['a=1; Max-Age=0; Domain=other.example', undefined],
    ['__Host-a=1; Secure; Path=/; Domain=partner.example', '__Host- needs Path=/ and no Domain'],
    ['__Host-a=1; Secure', '__Host- needs Path=/ and no Domain'],
    ['__Host-a=1; Path=/', secure],
    ['__Host-a=1; Path=/; Secure', undefined],
    ['__Secure-a=1', secure],
    ['a=1; SameSite=None', 'SameSite=None needs Secure'],
    ['a=1; Secure', 'it is Secure, and the address is http', 'http://partner.example/']
  ] as const) {
    const jar = new CookieJar()
    jar.take(line, new URL(address))
    t.equal(jar.refused.get(String(line.split('=')[0])), why, line)
    const isKept = why === undefined && !line.includes('Max-Age')
    t.equal(jar.all().length, isKept ? 1 : 0, line)
  }
})

t.test('a given cookie that the service renews is sent once, with its new value', async (t) => {
  for (const [attribute, renewedAt] of [['', '/a/b'], ['; Path=/a', '/a/b'], ['; Path=/', '/']] as const) {
    for (const given of ['sid=old', 'sid=old; SameSite=Lax', 'Set-Cookie: sid=old', 'x\nset-cookie: sid=old; Secure']) {
      const jar = new CookieJar(parseGiven(given + attribute))
      jar.take('sid=new; HttpOnly', new URL(renewedAt, SERVICE))
      t.equal(jar.header(new URL('/a/c', SERVICE)), 'sid=new', given + attribute)
    }
  }
})
