// Someone writes the request target so that the router finds the endpoint and the target, read by another program,
// leads elsewhere: return_to of the login page would then be an open redirection, from the partner's own login.
import t from 'tap'
import { PORTAL, startApp } from '../app.ts'
import { authorizePath, request, say } from '../wire.ts'
import { isLogin } from './return-to.ts'

const ENDPOINT = '/oauth/authorize'
const query = authorizePath('s').slice(ENDPOINT.length)

const targets = [...[
  '',
  '//',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/.//evil.example',
  '/%2f/evil.example',
  'http://evil.example',
  'http://evil.example//evil.example',
  'http://a@evil.example',
  'javascript://x',
  'http://evil.example?',
  'http:\\\\evil.example',
  '@evil.example',
  '/evil.example/x'
].map((front) => front + ENDPOINT + query), ...[
  '/',
  ';//evil.example',
  '#//evil.example',
  '?//evil.example&',
  '?return_to=//evil.example&',
  '?x=\xe9\x80\xff&'
]
  .map((between) => ENDPOINT + between + query)]

const apps: Record<string, object> = {
  'an app that ignores slashes and case': {
    routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false }
  },
  'an app that rewrites every URL to the endpoint': {
    rewriteUrl: ({ url = '' }) => `${ENDPOINT}?${url.split('?').slice(1).join('?')}`
  }
}

for (const [name, server] of Object.entries(apps)) {
  t.test(name, async (t) => {
    const { url, events } = await startApp(t, { server })
    for (const target of targets) {
      const { text } = await say(url, request(`GET ${target}`))
      const location = /^location: (.*)\r$/im.exec(text)?.[1] ?? '/login?return_to=/'
      // Back to the portal with an error, or to the login page.
      t.ok(location.startsWith(`${PORTAL.redirectUri}?error=`) || isLogin(location), `${target} leads to ${location}`)
    }
    t.ok(events.some(({ reason }) => reason === 'login_page'))
  })
}
