// Someone writes the request target so that the router finds the endpoint and the target, read by another program,
// leads elsewhere: return_to of the login page would then be an open redirection, from the partner's own login.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { authorizePath, request, say } from './helpers/raw.ts'
import { staysHere } from './helpers/return-to.ts'

const OWN = 'https://partner.example'
const ENDPOINT = '/oauth/authorize'

/** What a target has in front of the endpoint. */
const fronts = [
  '', '/', '//', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/\\/evil.example', '/.',
  '/.//evil.example', '/..', '/..//evil.example', '/%2f/evil.example', '/%5cevil.example', '/%09/evil.example',
  'http://evil.example', 'https://evil.example', 'HTTP://evil.example', 'http://evil.example/',
  'http://evil.example//evil.example', 'http://', 'http:////evil.example', 'http://a@evil.example',
  'http://evil.example:80', 'http:', 'ftp://evil.example', 'javascript://x', 'data:', 'http://http://evil.example',
  'http://evil.example?', 'http://evil.example#', 'http:\\\\evil.example', '@evil.example', '.evil.example',
  ':@evil.example', '?//evil.example', '/x', '/evil.example/x'
]
const paths = [
  `${ENDPOINT}/`, `${ENDPOINT};//evil.example`, ENDPOINT.toUpperCase(), '/oauth%2fauthorize', `${ENDPOINT}%00`, '*',
  'evil.example:443', 'http:oauth/authorize', 'http://evil.example\\oauth/authorize'
]
const query = authorizePath('s').replace(/^[^?]*/, '')
const queries = [
  '', `${query}&x=//evil.example`, `${query}#//evil.example`, `${query}&return_to=//evil.example`,
  `${query}&return_to=%2Flogin`, `?${query}`, `?//evil.example&${query.slice(1)}`, `?@evil.example/&${query.slice(1)}`
]
const targets = [
  ...[...fronts.map((front) => front + ENDPOINT), ...paths].map((target) => target + query),
  ...['', '//evil.example', 'http://evil.example'].flatMap((front) => queries.map((query) => front + ENDPOINT + query))
]

/** Where the browser goes then: back to the portal with an error, or to the login page and from there to this site. */
function isSafe (location: string, reason: string | undefined): boolean {
  if (location.startsWith(`${PORTAL.redirectUri}?error=`)) return true
  const [first = '', ...more] = new URL(location, OWN).searchParams.getAll('return_to')
  return location.startsWith('/login?return_to=') && more.length === 0 && reason === 'login_page' &&
    /^[\x21-\x7e]+$/.test(first) && staysHere(first)
}

for (const [name, server] of Object.entries({
  'an app as it is': {},
  'an app that takes slashes and case lightly':
    { routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false } },
  'an app that rewrites every URL to the endpoint':
    { rewriteUrl: ({ url = '' }: { url?: string }) => `${ENDPOINT}?${url.split('?').slice(1).join('?')}` }
})) {
  t.test(name, async (t) => {
    const { url, events } = await startHost(t, { loginPage: '/login' }, { server: server as object })
    let redirected = 0
    for (const target of targets) {
      const { text, closed } = await say(url, request(`GET ${target}`))
      t.ok(closed, `${target} does not hang`)
      const [, location] = /^location: (.*)\r$/im.exec(text) ?? []
      if (location === undefined) continue
      redirected++
      t.ok(isSafe(location, events.at(-1)?.reason), `${target} leads to ${location}`)
    }
    t.ok(redirected > 0, `${redirected} were redirected`)
  })
}
