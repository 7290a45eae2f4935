// The page and its policy by themselves; browser/pages looks at it in Chromium.
import { createHash } from 'node:crypto'
import t from 'tap'
import { ownErrorPage, PAGE_POLICY, prefersPage } from '../../lib/http/error-page.ts'
import type { PageRefusal } from '../../lib/http/error-page.ts'

const REFUSED: PageRefusal = {
  status: 400, error: 'invalid_request', description: 'A description.', reason: 'client_id_unknown', requestId: 'req-1'
}

t.test('the policy lets in the style of the page', async (t) => {
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(ownErrorPage(REFUSED)) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  t.match(PAGE_POLICY, `style-src 'sha256-${hash}';`)
})

/** Request ids, which an attacker can choose (`requestIdHeader`), and what the page says of them. */
const ids: Record<string, string> = {
  ['x'.repeat(100)]: ` Request ID: ${'x'.repeat(100)}`,
  '<b>&"\'~!': ' Request ID: &#60;b&#62;&#38;&#34;&#39;~!',
  'Call 0900 123 and say your password': '',
  ['x'.repeat(101)]: ''
}

t.test('an id of the caller is escaped, and says nothing to a person', async (t) => {
  for (const [requestId, shown] of Object.entries(ids)) {
    t.match(ownErrorPage({ ...REFUSED, requestId }), `<small>For support: A description.${shown}</small>`, requestId)
  }
})

t.test('a link to the portal is escaped', async (t) => {
  const page = ownErrorPage({ ...REFUSED, loginUrl: 'https://a.example/?x=1&y=\'2\'' })
  t.match(page, '<p><a href="https://a.example/?x=1&#38;y=&#39;2&#39;">Start again</a></p>')
})

t.test('a fault of the service is not called one of the link', async (t) => {
  t.match(ownErrorPage(REFUSED), 'is not a valid sign-in request')
  t.match(ownErrorPage({ ...REFUSED, status: 500 }), 'cannot process your request at the moment')
})

t.test('who prefers the page', async (t) => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
  for (const accept of [browser, 'text/*', 'application/json;q=0.5, text/html']) {
    t.equal(prefersPage(accept), true, accept)
  }
  for (const accept of [undefined, '*/*', 'text/html;q=0.5, application/json', 'text/html;q=0']) {
    t.equal(prefersPage(accept), false, String(accept))
  }
  t.equal(prefersPage(`${'a/b,'.repeat(300)}text/html`), false, 'a header is read to its thousandth character')
})
