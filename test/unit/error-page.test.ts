// The page and its policy by themselves (contract section 3.1); test/attacks/error-page looks at it in a browser.
import { createHash } from 'node:crypto'
import t from 'tap'
import { errorPage, errorPagePolicy } from '../../lib/http/error-page.ts'

t.test('the policy lets in the style of the page and nothing else', async (t) => {
  const [, style = ''] = /<style>([^]*)<\/style>/.exec(errorPage('A description.', [])) ?? []
  t.match(style, /^:root \{ color-scheme: light dark \}\n[^]+\}$/)
  t.equal(errorPagePolicy, `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
})

t.test('a link for each portal, and what came from outside in it is escaped', async (t) => {
  const page = errorPage('A <description> & "more".', ['https://a.example/?x=1&y=\'2\'', 'https://b.example/'])
  t.match(page, '<p><a href="https://a.example/?x=1&#38;y=&#39;2&#39;">Start again</a></p>\n<p><a href="https://b.example/">Start again</a></p>')
  t.match(page, '<small>For support: A &#60;description&#62; &#38; &#34;more&#34;.</small>')
  t.notMatch(errorPage('A description.', []), '<a ')
})
