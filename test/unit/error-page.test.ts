// The page and its policy by themselves; browser/pages looks at it in Chromium.
import { createHash } from 'node:crypto'
import t from 'tap'
import { OWN_PAGE, ownErrorPage, prefersPage } from '../../lib/http/error-page.ts'
import type { PageRefusal } from '../../lib/http/error-page.ts'

const REFUSED: PageRefusal = {
  status: 400, error: 'invalid_request', description: 'A description.', reason: 'client_id_unknown', requestId: 'req-1'
}

t.test('the policy lets in the style of the page and nothing else', async (t) => {
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(ownErrorPage(REFUSED)) ?? []
  t.match(style, /^:root \{ color-scheme: light dark \}\n[^]+\}$/)
  const hash = createHash('sha256').update(style).digest('base64')
  t.equal(OWN_PAGE.headers['content-security-policy'], `default-src 'none'; style-src 'sha256-${hash}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
})

/** Request ids, which an attacker can choose (`requestIdHeader`), and what the page says of them. */
const ids: Record<string, string> = {
  ['x'.repeat(100)]: ` Request ID: ${'x'.repeat(100)}`,
  '<b>&"\'~!': ' Request ID: &#60;b&#62;&#38;&#34;&#39;~!',
  'Call 0900 123 and say your password': '',
  ['x'.repeat(101)]: '',
  'a\n': '',
  'caf\u00e9!': '',
  '': ''
}

t.test('an id of the caller is escaped, and says nothing to a person', async (t) => {
  for (const [requestId, shown] of Object.entries(ids)) {
    t.match(ownErrorPage({ ...REFUSED, requestId }), `<small>For support: A description.${shown}</small>`, requestId)
  }
})

t.test('a link to the portal, and what came from outside in it is escaped', async (t) => {
  const description = 'A <description> & "more".'
  const page = ownErrorPage({ ...REFUSED, description, loginUrl: 'https://a.example/?x=1&y=\'2\'' })
  t.match(page, '<p><a href="https://a.example/?x=1&#38;y=&#39;2&#39;">Start again</a></p>')
  t.match(page, '<small>For support: A &#60;description&#62; &#38; &#34;more&#34;. Request ID: req-1</small>')
  const without = ownErrorPage(REFUSED)
  const text = /<main>([^]*)<\/main>/.exec(without)?.[1] ?? ''
  t.strictSame(text.trim().split(/\n+/), [
    '<h1>This sign-in cannot go on</h1>',
    '<p>The link that you followed is not a valid sign-in request of the portal. ' +
      'You were not signed in, and no data was sent.</p>',
    '<p><small>For support: A description. Request ID: req-1</small></p>'
  ], 'where the portal is unknown there is no link')
})

t.test('a fault of the service is not called one of the link', async (t) => {
  for (const [status, isOfLink] of [[400, true], [499, true], [500, false], [503, false]] as const) {
    const page = ownErrorPage({ ...REFUSED, status })
    t.equal(page.includes('is not a valid sign-in request'), isOfLink, String(status))
    t.equal(page.includes('cannot process your request at the moment'), !isOfLink, String(status))
  }
})

t.test('who prefers the page', async (t) => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
  for (const accept of [browser, 'text/*', 'application/json;q=0.5, text/html', 'TEXT/HTML']) {
    t.equal(prefersPage(accept), true, accept)
  }
  for (const accept of [undefined, '*/*', 'text/html;q=0.5, application/json', 'text/html;q=0', 'image/png']) {
    t.equal(prefersPage(accept), false, String(accept))
  }
  t.equal(prefersPage(`${'a/b,'.repeat(200)}text/html`), true, 'a long header is read')
  t.equal(prefersPage(`${'a/b,'.repeat(300)}text/html`), false, 'to its thousandth character')
})
