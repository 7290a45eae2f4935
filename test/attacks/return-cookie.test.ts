// Someone writes the cookie `partner-sso-return`, or `return_to`: another app on the same host, a subdomain, a link.
// After the login the browser must not leave this site, nor reach any other page of it, and no header may be forged.
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { authorizePath } from '../../lib/http/return-cookie.ts'
import partnerSso from '../../lib/index.ts'
import { FOREIGN_URLS } from '../helpers/foreign-urls.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import { request, say } from '../helpers/raw-requests.ts'

const SITE = 'https://partner.example'
const ENDPOINTS = ['/oauth/authorize', '/second/oauth/authorize']

let app: FastifyInstance
let url: string

t.before(async () => {
  ({ app, url } = await startHost(t, {}, {
    async finish (app: FastifyInstance) {
      await app.register(partnerSso, hostOptions({ prefix: '/second' }))
      app.get('/login', (request, reply) => reply.send({ to: app.partnerSso.returnTo(request, reply) }))
      app.get('/redirect', (request, reply) => reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/', 303))
    }
  }))
})

type Carrier = (value: string) => { url: string, headers: Record<string, string> }

const carriers: Record<string, Carrier> = {
  'the cookie': (value) => ({
    url: '/login', headers: { cookie: `partner-sso-return=${encodeURIComponent(value)}` }
  }),
  'the cookie, not encoded': (value) => ({ url: '/login', headers: { cookie: `partner-sso-return=${value}` } }),
  return_to: (value) => ({ url: `/login?return_to=${encodeURIComponent(value)}`, headers: {} }),
  'return_to, not encoded': (value) => ({ url: `/login?return_to=${value.replace(/#/g, '%23')}`, headers: {} })
}

/** What returnTo returns. */
async function returned ({ url, headers }: ReturnType<Carrier>): Promise<string | null> {
  const response = await app.inject({ url, headers })
  return response.json().to as string | null
}

const isOwn = (to: string): boolean => {
  const { origin, pathname } = new URL(to, SITE)
  return origin === SITE && ENDPOINTS.includes(pathname) && /^[\x21-\x7e]+$/.test(to)
}

const [endpoint] = ENDPOINTS as [string]
/** URLs that resemble that of the endpoint. */
const OTHER_URLS = [
  ...FOREIGN_URLS, ...FOREIGN_URLS.filter((url) => url !== '').map((url) => `${url}${endpoint}?a=b`),
  '/', '/home?a=b', '/admin/delete?all=1', '/logout', 'oauth/authorize?a=b', '/oauth/token?a=b', '/oauth/user?a=b',
  '/third/oauth/authorize?a=b', '/second?a=b', '/secondoauth/authorize?a=b', `${endpoint}/?a=b`, `${endpoint}/x?a=b`,
  `${endpoint}x?a=b`, `${endpoint};x?a=b`, `${endpoint}#?a=b`, `${endpoint}%3Fa=b`, `${endpoint}\\?a=b`,
  `/x/..${endpoint}?a=b`, `/.${endpoint}?a=b`, `${endpoint}/../../home?a=b`, `${endpoint}/..?a=b`,
  '/oauth/./authorize?a=b', '/oauth//authorize?a=b', `/${endpoint}?a=b`, '/oauth%2Fauthorize?a=b',
  '/%6Fauth/authorize?a=b',
  '/OAuth/authorize?a=b', '/oauth/authoriz%65?a=b', '\\oauth\\authorize?a=b', ` ${endpoint}?a=b`, `\t${endpoint}?a=b`,
  `"${endpoint}?a=b"`, '__proto__', 'constructor', '%', '%zz', '\ufffd', 'null', 'undefined', '[object Object]'
]

for (const [name, carry] of Object.entries(carriers)) {
  t.test(`${name}: no other URL`, async (t) => {
    for (const other of OTHER_URLS) {
      // A parser cuts blanks off, or decodes once more: then it is the endpoint's own URL.
      const to = await returned(carry(other))
      t.ok(to === null || (name.endsWith('not encoded') && isOwn(to)), `${JSON.stringify(other)} leads to ${to}`)
    }
  })
}

t.test('the endpoint’s own URL, with anything in its query', async (t) => {
  for (const own of ENDPOINTS) {
    for (const query of [
      'a=b', '', '?', '//evil.example', '@evil.example', '#//evil.example', 'a=b\r\nset-cookie: x=y', 'a=\0', 'a=é',
      'a=\u2028', 'a= b', '<script>', '"', '/../../home', '\\..\\home', `x=${'y'.repeat(6000)}`
    ]) {
      for (const name of ['the cookie', 'return_to']) {
        const to = await returned((carriers[name] as Carrier)(`${own}?${query}`))
        t.ok(to !== null && isOwn(to) && to.startsWith(`${own}?`), `${encodeURIComponent(query)} becomes ${to}`)
      }
    }
  }
})

t.test('a prefix that browsers take for another host', async (t) => {
  for (const prefix of ['//evil.example', '///evil.example/', '/\\evil.example']) {
    t.ok(new URL(authorizePath(prefix), SITE).origin === SITE, prefix)
  }
})

t.test('repeated cookies and parameters: one of them, and only an own one', async (t) => {
  const own = `partner-sso-return=${encodeURIComponent(`${endpoint}?a=own`)}`
  const evil = 'partner-sso-return=//evil.example'
  const later = `partner-sso-return=${encodeURIComponent(`${endpoint}?a=later`)}`
  for (const [cookie, to] of [
    [`${own}; ${later}`, `${endpoint}?a=own`], [`${own}; ${evil}`, `${endpoint}?a=own`], [`${evil}; ${own}`, null],
    [`x=${own}`, null], [`Partner-Sso-Return${own.slice(18)}`, null], ['partner-sso-return', null], [';;=;', null]
  ] as const) t.equal(await returned({ url: '/login', headers: { cookie } }), to, cookie)
  const twice = `/login?return_to=//evil.example&return_to=${encodeURIComponent(`${endpoint}?a=b`)}`
  const to = await returned({ url: twice, headers: {} })
  t.ok(to === null || isOwn(to))
})

t.test('on the wire: bytes that are no text, and a header of 12 KiB', async (t) => {
  for (const value of [
    '/oauth/authorize?\xe9\x80\xff', '/oauth/authorize?%0d%0ax:y', '%2Foauth%2Fauthorize%3F%0D%0Ax%3A%20y',
    `/oauth/authorize?${'x'.repeat(12_000)}`, '%'.repeat(12_000), ';'.repeat(12_000), '='.repeat(12_000)
  ]) {
    const { text, statuses } = await say(url, request('GET /redirect', [`Cookie: partner-sso-return=${value}`]))
    t.strictSame(statuses, [303], value)
    const location = /^location: (.*)\r$/im.exec(text)?.[1] as string
    t.ok(location === '/' || isOwn(location), location.slice(0, 100))
    t.notMatch(text, /^x: ?y/im, value)
  }
})

t.test('another app on the same host keeps its cookie', async (t) => {
  const other = Fastify()
  t.teardown(() => other.close())
  await other.register(partnerSso, hostOptions({ prefix: '/other', loginPage: '/other/login' }))
  const { headers: { location = '' }, cookies: [cookie] } = await other.inject({
    url: '/other/oauth/authorize?client_id=partner-123&redirect_uri=https://portal.example/oauth/callback' +
      '&response_type=code&state=s'
  })
  t.match(location, /^\/other\/login\?return_to=/)
  const cookies = { 'partner-sso-return': String(cookie?.value) }
  const { headers, body } = await app.inject({ url: '/login', cookies })
  t.strictSame([headers['set-cookie'], JSON.parse(body)], [undefined, { to: null }])
})
