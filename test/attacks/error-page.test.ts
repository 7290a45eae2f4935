// Someone sends a user to a link whose parameters and headers hold scripts, hoping that the error page shows them: in
// the partner's own origin, where the user is logged in. The page holds nothing of the request: it is the same, byte by
// byte, whatever is asked. What a browser does with it: test/browser/error-page.
import t from 'tap'
import { refusals } from '../contract/refusals.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
import type { Changes } from '../helpers/wire.ts'

const payloads = [
  '<script>alert(1)</script>', '"><script>alert(1)</script>', "'><img src=x onerror=alert(1)>",
  '</style><script>alert(1)</script>', '</title><script>alert(1)</script>', '<!--<script>alert(1)//-->',
  '<base href=//evil.example/>', '<meta http-equiv=refresh content="0;url=//evil.example/">',
  'javascript:alert(1)', '{{constructor.constructor("alert(1)")()}}', '$' + '{alert(1)}', '`;alert(1)//',
  '&lt;script&gt;alert(1)&lt;/script&gt;', '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  '%3Cscript%3Ealert(1)%3C/script%3E', '\0<script>alert(1)</script>', '＜script＞alert(1)＜/script＞',
  ']]><script>alert(1)</script>', '<style>@import "//evil.example/x.css";</style>'
]
const names = [
  'client_id', 'redirect_uri', 'state', 'response_type', 'scope', 'code_challenge', 'error', 'error_description',
  'login_url'
]
/** What a link cannot set, but a proxy, an extension or another machine can. */
const headers = [
  'x-user', 'user-agent', 'referer', 'accept-language', 'x-forwarded-host', 'x-forwarded-for', 'x-forwarded-proto',
  'forwarded', 'origin', 'x-request-id', 'cookie'
]

t.test('the page is the same, byte by byte, whatever is asked', async (t) => {
  const { app, events } = await startHost(t)
  const portal = wire('', PORTAL, { fetch: injecting(app) })
  const pages = new Map<string, Set<string>>()
  const ask = async (changes: Changes, more = '', headers: Record<string, string> = {}) => {
    const { text } = await portal.authorize(changes, null, { ...headers, accept: 'text/html' }, more)
    const reason = String(events.at(-1)?.reason)
    pages.set(reason, (pages.get(reason) ?? new Set()).add(text))
  }
  const foreign = { redirect_uri: 'https://evil.example' }
  for (const payload of payloads) {
    const encoded = encodeURIComponent(payload)
    for (const name of names) await ask({ ...foreign, [name]: payload })
    await ask({ ...foreign, [payload]: payload })
    await ask({ redirect_uri: undefined, state: payload })
    await ask({ client_id: undefined, state: payload })
    await ask({ client_id: payload }, `&client_id=${encoded}`)
    await ask({ redirect_uri: payload }, `&redirect_uri=${encoded}`)
    await ask({}, `&${encoded}=x`.repeat(1001))
    const shown = payload.replaceAll(/[^\x20-\x7e]/g, '')
    await ask(foreign, '', Object.fromEntries(headers.map((name) => [name, shown])))
  }
  const isProvoked = (reason: string) => !reason.startsWith('portal_')
  const reasons = Object.entries(refusals).flatMap(([reason, { at }]) => at === 'page' ? [reason] : [])
  t.strictSame([...pages.keys()].sort(), reasons.filter(isProvoked).sort())
  for (const [reason, texts] of pages) {
    const [text = ''] = texts
    t.equal(texts.size, 1, `one page says: ${reason}`)
    t.match(text, '<!doctype html>', 'and it is a page')
  }
})
