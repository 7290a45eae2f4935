// Someone writes the request target so that the router finds the endpoint and the target, read by another program,
// leads elsewhere: return_to of the login page would then be an open redirection, from the partner's own login.
import t from 'tap'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { authorizePath, request, say } from './helpers/raw.ts'
import { staysHere } from './helpers/return-to.ts'

const OWN = 'https://partner.example'

const targets = [
  '/oauth/authorize', '//oauth/authorize', '///oauth/authorize', '//evil.example/oauth/authorize',
  '///evil.example/oauth/authorize', '/\\evil.example/oauth/authorize', '\\\\evil.example/oauth/authorize',
  '/\\/evil.example/oauth/authorize', '\\/evil.example/oauth/authorize', '/./oauth/authorize',
  '/.//evil.example/oauth/authorize', '/../oauth/authorize', '/..//evil.example/oauth/authorize',
  '/%2f/evil.example/oauth/authorize', '/%5cevil.example/oauth/authorize', '/%09/evil.example/oauth/authorize',
  'http://evil.example/oauth/authorize', 'https://evil.example/oauth/authorize', 'HTTP://evil.example/oauth/authorize',
  'http://evil.example//oauth/authorize', 'http://evil.example//evil.example/oauth/authorize',
  'http:///oauth/authorize',
  'http:////evil.example/oauth/authorize', 'http://a@evil.example/oauth/authorize',
  'http://evil.example\\oauth/authorize', 'http://evil.example:80/oauth/authorize', 'http:/oauth/authorize',
  'http:oauth/authorize', 'ftp://evil.example/oauth/authorize', 'javascript://x/oauth/authorize',
  'data:/oauth/authorize', 'http://http://evil.example/oauth/authorize', 'https://https://evil.example/oauth/authorize',
  'http://evil.example?/oauth/authorize', 'http://evil.example#/oauth/authorize',
  'http:\\\\evil.example/oauth/authorize', '/oauth/authorize/', '/oauth/authorize;//evil.example', '/OAUTH/AUTHORIZE',
  '/oauth%2fauthorize', '/oauth/authorize%00', '*', 'evil.example:443', '@evil.example/oauth/authorize',
  '.evil.example/oauth/authorize', ':@evil.example/oauth/authorize', '?//evil.example/oauth/authorize'
]
const query = authorizePath('s').replace(/^[^?]*/, '')
const queries = [
  '', query, `${query}&x=//evil.example`, `${query}#//evil.example`, `${query}&return_to=//evil.example`,
  `${query}&return_to=%2Flogin`, `?${query}`, `?//evil.example&${query.slice(1)}`, `?@evil.example/&${query.slice(1)}`
]
const routerOptions = { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false }
const toEndpoint = ({ url }: { url?: string }) => `/oauth/authorize?${url?.split('?').slice(1).join('?')}`

for (const [name, server] of [
  ['an app as it is', {}],
  ['an app that takes slashes and case lightly', { routerOptions }],
  ['an app that rewrites every URL to the endpoint', { rewriteUrl: toEndpoint }]
] as const) {
  await t.test(name, async (t) => {
    const { url, events } = await startHost(t, { loginPage: '/login' }, { server: server as object })
    let answered = 0
    for (const target of targets) {
      for (const query of queries) {
        const places = [target, target.replace('/oauth', '/x/oauth'), target.replace('/oauth', '/evil.example/x/oauth')]
        for (const within of places) {
          const { text, closed } = await say(url, request(`GET ${within}${query}`))
          if (!closed) t.fail(`${within}${query} hangs`)
          const location = /^location: (.*)\r$/im.exec(text)?.[1]
          if (location === undefined) continue
          answered++
          const { type, reason } = events.pop() as PartnerSsoEvent
          if (location.startsWith(`${PORTAL.redirectUri}?error=`)) {
            if (type !== 'request_rejected') t.fail(`${within}${query} is reported as ${type}`)
            continue
          }
          if (reason !== 'login_page') t.fail(`${within}${query} is reported as ${reason}`)
          const returnTo = new URL(location, OWN).searchParams.getAll('return_to')
          const [first = ''] = returnTo
          const safe = returnTo.length === 1 && /^[\x21-\x7e]+$/.test(first) && staysHere(first)
          if (!location.startsWith('/login?return_to=') || !safe) t.fail(`${within}${query} leads to ${location}`)
        }
      }
    }
    t.ok(answered > 0, `${answered} of them were sent to log in, and come back to this site`)
  })
}
