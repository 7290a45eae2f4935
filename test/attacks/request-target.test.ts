// Someone writes the request target so that the router finds the endpoint and the target, read by another program,
// leads elsewhere: return_to of the login page would then be an open redirection, from the partner's own login. Over
// HTTP/2, whose headers are not lines of text, also with bytes that HTTP/1.1 refuses.
import { connect } from 'node:http2'
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { authorizePath, request, say } from '../helpers/raw-requests.ts'
import { isLogin } from '../helpers/return-to.ts'

const ENDPOINT = '/oauth/authorize'

/** What a target has in front of the endpoint. */
const fronts = [
  '', '/', '//', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/\\/evil.example', '/.',
  '/.//evil.example', '/..', '/..//evil.example', '/%2f/evil.example', '/%5cevil.example', '/%09/evil.example',
  'http://evil.example', 'https://evil.example', 'HTTP://evil.example', 'http://evil.example/',
  'http://evil.example//evil.example', 'http://', 'http:////evil.example', 'http://a@evil.example',
  'http://evil.example:80', 'http:', 'ftp://evil.example', 'javascript://x', 'data:', 'http://http://evil.example',
  'http://evil.example?', 'http://evil.example#', 'http:\\\\evil.example', '@evil.example', '.evil.example',
  ':@evil.example', '?//evil.example', '/x', '/evil.example/x', '/\t/evil.example', '/\0', '/\r\nx: y'
]
const paths = [
  `${ENDPOINT}/`, `${ENDPOINT};//evil.example`, ENDPOINT.toUpperCase(), '/oauth%2fauthorize', `${ENDPOINT}%00`, '*',
  'evil.example:443', 'http:oauth/authorize', 'http://evil.example\\oauth/authorize'
]
const query = authorizePath('s').replace(/^[^?]*/, '')
const queries = [
  '', `${query}&x=//evil.example`, `${query}#//evil.example`, `${query}&return_to=//evil.example`,
  `${query}&return_to=%2Flogin`, `?${query}`, `?//evil.example&${query.slice(1)}`, `?@evil.example/&${query.slice(1)}`,
  `${query}&x=\xe9\x80\xff`
]
const targets = [
  ...[...fronts.map((front) => front + ENDPOINT), ...paths].map((target) => target + query),
  ...['', '//evil.example', 'http://evil.example'].flatMap((front) => queries.map((query) => front + ENDPOINT + query))
]

/** Where a request for the target is redirected. */
type Send = (url: string, target: string) => Promise<string | undefined>

const overHttp1: Send = async (url, target) => {
  const { text, closed } = await say(url, request(`GET ${target}`))
  t.ok(closed, `${target} does not hang`)
  return /^location: (.*)\r$/im.exec(text)?.[1]
}

const overHttp2: Send = async (url, target) => {
  const session = connect(url)
  const stream = session.request({ ':path': target }).resume()
  return await new Promise<string | undefined>((resolve) => {
    stream.on('response', ({ location }) => resolve(location)).on('error', () => resolve(undefined))
  }).finally(() => session.destroy())
}

const apps: Record<string, { server: object, send?: Send }> = {
  'an app as it is': { server: {} },
  'an app that ignores trailing slashes and case': {
    server: { routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false } }
  },
  'an app that rewrites every URL to the endpoint': { server: { rewriteUrl } },
  'the same, over HTTP/2': { server: { rewriteUrl, http2: true }, send: overHttp2 }
}

function rewriteUrl ({ url = '' }: { url?: string }): string {
  return `${ENDPOINT}?${url.split('?').slice(1).join('?')}`
}

for (const [name, { server, send = overHttp1 }] of Object.entries(apps)) {
  t.test(name, async (t) => {
    const { url, events } = await startHost(t, { loginPage: '/login' }, { server })
    let redirected = 0
    for (const target of targets) {
      const location = await send(url, target)
      if (location === undefined) continue
      redirected++
      // Back to the portal with an error, or to the login page.
      const isSafe = location.startsWith(`${PORTAL.redirectUri}?error=`) ||
        (isLogin(location) && events.at(-1)?.reason === 'login_page')
      t.ok(isSafe, `${JSON.stringify(target)} leads to ${location}`)
    }
    t.ok(redirected >= 9, `${redirected} were redirected`)
  })
}
