// The pages themselves: nothing is loaded, and nothing of a service is markup.
import t from 'tap'
import { jsonAt } from '../../helpers/partner.ts'
import { responding } from '../../helpers/responses.ts'
import { asked, simulator, start } from '../../helpers/serve.ts'

t.test('what the service sends is never markup', async (t) => {
  const change = jsonAt('/oauth/user', { password_hash: 'x' })
  const { origin, browser } = await simulator(t, { change, user: 'bob', flags: ['--level', 'client'] })
  const { text } = await browser.signIn(start(origin))
  t.match(text, 'Bob &lt;b&gt;Client&lt;/b&gt; is signed in')
  t.match(text, '<dt>client_id</dt><dd>42</dd>')
  t.match(text, 'A client user, at the client OAuth level.')
  t.match(text, 'The portal ignores: <code>password_hash</code>')
  const baseUrl = await responding(t, 500, { message: '&amp; <i>\' " onload=x' })
  const hostile = await simulator(t, { baseUrl })
  const failed = await hostile.browser.signIn(start(hostile.origin))
  t.match(failed.text, '<dd>500 with (&amp;amp; &lt;i&gt;&#39; &quot; onload=x)</dd>')
  t.notMatch(text + failed.text, /<i>|<b>Client</)
})

t.test('pages load nothing, cannot be framed, keep no copies and send no referrer', async (t) => {
  const { origin, browser } = await simulator(t)
  const { url } = await browser.signIn(start(origin))
  for (const [address, expected] of [
    [url, 200], [origin, 200], [`${origin}/sign-ins/none`, 404], [start(origin), 302]
  ] as const) {
    const response = await browser.fetch(address)
    const { headers, status } = response
    const name = address.slice(origin.length)
    t.equal(status, expected, name)
    t.match(headers.get('content-security-policy'), new RegExp(
      '^default-src \'none\'; style-src \'sha256-[^\']+\'; script-src \'sha256-[^\']+\'; connect-src \'self\'; ' +
      'img-src data:; base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\'$'
    ), name)
    const others = ['cache-control', 'x-frame-options', 'referrer-policy', 'x-content-type-options']
    t.strictSame(others.map((other) => headers.get(other)), ['no-store', 'DENY', 'no-referrer', 'nosniff'], name)
    t.notMatch(await response.text(), /(?:src|href)="(?:https?:)?\/\//, name)
  }
})

t.test('the simulator responds under its own host names only, and browsers to one of them', async (t) => {
  const { origin } = await simulator(t)
  const { host, port } = new URL(origin)
  const named = await simulator(t, {
    flags: ['--public-url', 'https://portal.test', '--redirect-uri', 'https://callback.test/oauth/callback']
  })
  for (const [url, other, status, location] of [
    [origin, 'evil.example', 421, undefined],
    [origin, '127.0.0.1:80.evil.example', 421, undefined],
    [origin, 'evil.localhost', 421, undefined],
    [`${origin}/?a=b`, host, 200, undefined],
    [`${origin}/?a=b`, 'localhost:1', 302, `${origin}/?a=b`],
    [`${origin}/external-oauth/local`, `[::1]:${port}`, 302, `${origin}/external-oauth/local`],
    [`${origin}//evil.example/`, 'localhost', 302, `${origin}//evil.example/`],
    [`${named.origin}/oauth/callback`, 'callback.test', 400, undefined],
    [`${named.origin}/oauth/callback`, 'other.test', 421, undefined],
    [named.origin, 'portal.test', 200, undefined],
    [named.origin, 'localhost', 200, undefined],
    [start(named.origin), 'localhost', 302, 'https://portal.test/external-oauth/local']
  ] as const) {
    const { statusCode, headers } = await asked(url, other)
    t.strictSame([statusCode, headers.location], [status, location], `${url} as ${other}`)
  }
})
