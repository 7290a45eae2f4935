// Someone writes the cookie `partner-sso-return`, or `return_to`: another app on the same host, a subdomain, a link.
// After the login the browser must not leave this site, nor reach any other page of it, and no header may be forged.
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { authorizePath } from '../../lib/http/return-cookie.ts'
import partnerSso from '../../lib/index.ts'
import { hostOptions, startHost } from '../helpers/host.ts'

const SITE = 'https://partner.example'
const ENDPOINTS = ['/oauth/authorize', '/second/oauth/authorize']

let app: FastifyInstance

t.before(async () => {
  ({ app } = await startHost(t, {}, {
    async finish (app: FastifyInstance) {
      await app.register(partnerSso, hostOptions({ prefix: '/second' }))
      app.get('/login', (request, reply) => reply.send({ to: app.partnerSso.returnTo(request, reply) }))
    }
  }))
})

type Carrier = (value: string) => { url: string, headers: Record<string, string> }

const carriers: Record<string, Carrier> = {
  'the cookie': (value) => ({
    url: '/login', headers: { cookie: `partner-sso-return=${encodeURIComponent(value)}` }
  }),
  return_to: (value) => ({ url: `/login?return_to=${encodeURIComponent(value)}`, headers: {} })
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

/** Values of `return_to` that a login page must not follow: each leads, or might lead, to another site. */
const FOREIGN_URLS = [
  'https://evil.example/', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example',
  '\\/evil.example', 'https:evil.example', 'javascript:alert(1)', 'data:text/html,x', '\t//evil.example',
  '/\t/evil.example', ' https://evil.example', 'http://site.invalid//evil.example',
  'http://site.invalid@evil.example', '/.//evil.example', ''
]

const [endpoint] = ENDPOINTS as [string]
/** URLs that resemble that of the endpoint. */
const OTHER_URLS = [
  ...FOREIGN_URLS,
  ...FOREIGN_URLS.filter((url) => url !== '').map((url) => `${url}${endpoint}?a=b`),
  '/home?a=b',
  'oauth/authorize?a=b',
  '/oauth/token?a=b',
  '/third/oauth/authorize?a=b',
  `${endpoint}/?a=b`,
  `${endpoint}/x?a=b`,
  `${endpoint}x?a=b`,
  `${endpoint};x?a=b`,
  `${endpoint}#?a=b`,
  `${endpoint}%3Fa=b`,
  `/x/..${endpoint}?a=b`,
  `${endpoint}/../../home?a=b`,
  `/${endpoint}?a=b`,
  '/oauth%2Fauthorize?a=b',
  '/OAuth/authorize?a=b',
  '/oauth/authoriz%65?a=b',
  `\t${endpoint}?a=b`,
  'constructor',
  '%zz'
]

for (const [name, carry] of Object.entries(carriers)) {
  t.test(`${name}: no other URL; the endpoint’s own, with anything in its query`, async (t) => {
    for (const other of OTHER_URLS) t.equal(await returned(carry(other)), null, JSON.stringify(other))
    for (const own of ENDPOINTS) {
      for (const query of [
        '',
        '//evil.example',
        '@evil.example',
        '#//evil.example',
        'a=b\r\nset-cookie: x=y',
        'a=\0',
        'a=\u2028',
        '<script>',
        '/../../home',
        `x=${'y'.repeat(6000)}`
      ]) {
        const to = await returned(carry(`${own}?${query}`))
        t.ok(to !== null && isOwn(to) && to.startsWith(`${own}?`), `${encodeURIComponent(query)} becomes ${to}`)
      }
    }
  })
}

t.test('a prefix that browsers take for another host', async (t) => {
  for (const prefix of ['//evil.example', '///evil.example/', '/\\evil.example']) {
    t.ok(new URL(authorizePath(prefix), SITE).origin === SITE, prefix)
  }
})

t.test('repeated cookies: the first one', async (t) => {
  const own = `partner-sso-return=${encodeURIComponent(`${endpoint}?a=own`)}`
  const evil = 'partner-sso-return=//evil.example'
  for (const [cookie, to] of [
    [`${own}; ${evil}`, `${endpoint}?a=own`],
    [`${evil}; ${own}`, null],
    [`x=${own}`, null],
    [`Partner-Sso-Return${own.slice(18)}`, null],
    [';;=;', null]
  ] as const) t.equal(await returned({ url: '/login', headers: { cookie } }), to, cookie)
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
