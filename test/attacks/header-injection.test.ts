// Someone puts line breaks, control characters and non-ASCII into what a loginPage function makes of a request, to send
// a header of their own, a second response, or to crash the process. The header stays one line of visible ASCII.
// The state: flow/state; the path that return_to comes from: attacks/request-target.
import t from 'tap'
import { PORTAL, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'

const breaks = [
  '\r\n', '\n', '\r', '\r\n\r\n', '\0', '\u0085', '\u2028', '\u2029', '\v', '\f', '\u010d\u010a', '嘊嘍', '\u{1f600}',
  'ü', '\x7f', '%0d%0a', '%250d%250a', '\\r\\n', '%E5%98%8A%E5%98%8D', String.fromCharCode(...Array(0x800).keys())
]
const texts = breaks.flatMap((text) => [
  `a${text}X-Injected: yes`, `${text}Set-Cookie: session=evil`, `${text}${text}<script>alert(1)</script>`,
  `HTTP/1.1 200 OK${text}Content-Length: 0${text}${text}`
])

t.test('in what a loginPage function returns', async (t) => {
  let page = ''
  const { app, events } = await startHost(t, { loginPage: (returnTo) => page + returnTo })
  const portal = wire('', PORTAL, { fetch: injecting(app) })
  for (const text of texts) {
    const shown = encodeURIComponent(text)
    page = `/login?hint=${text}&to=`
    const { headers } = await portal.authorize({}, null)
    t.match(headers.get('location'), /^[\x21-\x7e]+$/, shown)
    t.match(headers.getSetCookie(), [/^partner-sso-return=%2Foauth%2Fauthorize%3F[\w%.-]+; Max-Age=600; /], shown)
    t.equal(headers.getSetCookie().length, 1, shown)
    t.equal(headers.get('x-injected'), null, shown)
  }
  t.strictSame(events.splice(0).map(({ reason }) => reason), texts.map(() => 'login_page'))
  page = '/login?half=\ud800'
  t.equal((await portal.authorize({}, null)).redirect.get('error'), 'server_error', 'a lone surrogate cannot be sent')
  t.match(events, [{ reason: 'login_page_failed' }])
})
