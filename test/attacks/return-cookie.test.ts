// Someone writes the cookie `partner-sso-return`, or `return_to`: another app on the same host, a subdomain, a link.
// After the login the browser must not leave this site, nor reach any other page of it, and no header may be forged.
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { authorizePath } from '../../lib/http/return-cookie.ts'
import partnerSso from '../../lib/index.ts'
import { pluginOptions, startApp } from '../app.ts'

const SITE = 'https://partner.example'
const ENDPOINTS = ['/oauth/authorize', '/second/oauth/authorize']

let app: FastifyInstance

t.before(async () => {
  ({ app } = await startApp(t, {
    finish: (app) => app.register(partnerSso<string>, pluginOptions({ prefix: '/second' })),
    loginPage: (request, reply) => reply.send({ to: request.server.partnerSso.returnTo(request, reply) })
  }))
})

type Carrier = (value: string) => { url: string, headers: Record<string, string> }

const carriers: Record<string, Carrier> = {
  'the cookie': (value) => ({
    url: '/login', headers: { cookie: `partner-sso-return=${encodeURIComponent(value)}` }
  }),
  return_to: (value) => ({ url: `/login?return_to=${encodeURIComponent(value)}`, headers: {} })
}

/** What returnTo returns, and the cookie that it removes. */
async function returned ({ url, headers }: ReturnType<Carrier>): Promise<{ to: string | null, removed: unknown }> {
  const response = await app.inject({ url, headers })
  return { ...response.json(), removed: response.headers['set-cookie'] }
}

const isOwn = (to: string): boolean => {
  const { origin, pathname } = new URL(to, SITE)
  return origin === SITE && ENDPOINTS.includes(pathname) && /^[\x21-\x7e]+$/.test(to)
}

/** Values of `return_to` that a login page must not follow: each leads, or might lead, to another site. */
const FOREIGN_URLS = [
  'https://evil.example/', '//evil.example', '/\\evil.example', '\\/evil.example', 'https:evil.example',
  'javascript:alert(1)', '\t//evil.example', '/\t/evil.example', 'http://site.invalid@evil.example', '/.//evil.example'
]

const [endpoint] = ENDPOINTS as [string]
/** URLs that resemble that of the endpoint. */
const OTHER_URLS = [
  '',
  ...FOREIGN_URLS.flatMap((url) => [url, `${url}${endpoint}?a=b`]),
  '/home?a=b',
  'oauth/authorize?a=b',
  '/oauth/token?a=b',
  '/third/oauth/authorize?a=b',
  `${endpoint}/?a=b`,
  `${endpoint}x?a=b`,
  `${endpoint};x?a=b`,
  `${endpoint}#?a=b`,
  `${endpoint}%3Fa=b`,
  `/x/..${endpoint}?a=b`,
  `${endpoint}/../../home?a=b`,
  `/${endpoint}?a=b`,
  '/oauth%2Fauthorize?a=b',
  '/OAuth/authorize?a=b',
  `\t${endpoint}?a=b`
]

for (const [name, carry] of Object.entries(carriers)) {
  t.test(`${name}: no other URL; the endpoint’s own, with anything in its query`, async (t) => {
    for (const other of OTHER_URLS) {
      // The cookie may be that of another app on the same host.
      t.strictSame(await returned(carry(other)), { to: null, removed: undefined }, JSON.stringify(other))
    }
    for (const own of ENDPOINTS) {
      for (const query of [
        '',
        '//evil.example',
        '#//evil.example',
        'a=b\r\nset-cookie: x=y',
        'a=\0',
        'a=\u2028',
        '<script>',
        `x=${'y'.repeat(6000)}`
      ]) {
        const { to } = await returned(carry(`${own}?${query}`))
        t.ok(to !== null && isOwn(to) && to.startsWith(`${own}?`), `${encodeURIComponent(query)} becomes ${to}`)
      }
    }
  })
}

t.test('what cannot be decoded is no URL', async (t) => {
  for (const sent of [
    { url: '/login', headers: { cookie: 'partner-sso-return=%zz' } },
    { url: '/login?return_to=%zz', headers: {} }
  ]) t.strictSame(await returned(sent), { to: null, removed: undefined }, JSON.stringify(sent))
})

t.test('a prefix that browsers take for another host', async (t) => {
  for (const prefix of ['//evil.example', '///evil.example/', '/\\evil.example']) {
    t.ok(new URL(authorizePath(prefix), SITE).origin === SITE, prefix)
  }
})
