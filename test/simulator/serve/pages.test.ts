// The pages themselves: nothing is loaded, and nothing of a service is markup.
import t from 'tap'
import { jsonAt } from '../../app.ts'
import { responding } from '../../helpers/responses.ts'
import { asked, simulator, start } from './scene.ts'

t.test('what the service sends is never markup', async (t) => {
  const change = jsonAt('/oauth/user', { password_hash: 'x' })
  const { origin, browser } = await simulator(t, { change, user: 'bob', flags: ['--level', 'client'] })
  const { text } = await browser.signIn(start(origin))
  t.match(text, 'Bob &#60;b&#62;Client&#60;/b&#62; is signed in')
  t.match(text, '<dt>client_id</dt><dd>42</dd>')
  t.match(text, 'A client user, at the client OAuth level.')
  t.match(text, 'The portal ignores: <code>password_hash</code>')
  t.notMatch(text, '<dt>password_hash')
  const baseUrl = await responding(t, 500, { message: '&amp; <i>\' " onload=x' })
  const hostile = await simulator(t, { baseUrl })
  const failed = await hostile.browser.signIn(start(hostile.origin))
  t.match(failed.text, '<dd>500 with the message “&#38;amp; &#60;i&#62;&#39; &#34; onload=x” at ')
  t.notMatch(text + failed.text, /<i>|<b>Client</)
})

const POLICY = new RegExp([
  '^default-src \'none\'',
  'style-src \'sha256-[^\']+\'',
  'script-src \'sha256-[^\']+\'',
  'connect-src \'self\'',
  'img-src data:',
  'base-uri \'none\'',
  'form-action \'none\'',
  'frame-ancestors \'none\'$'
].join('; '))

t.test('pages load nothing, cannot be framed, keep no copies and send no referrer', async (t) => {
  const { origin, browser } = await simulator(t)
  const { url } = await browser.signIn(start(origin))
  for (const [address, expected] of [
    [url, 200],
    [origin, 200],
    [`${origin}/sign-ins/none`, 404],
    [start(origin), 302]
  ] as const) {
    const response = await browser.fetch(address)
    const { headers, status } = response
    const name = address.slice(origin.length)
    t.equal(status, expected, name)
    t.match(headers.get('content-security-policy'), POLICY, name)
    const others = ['cache-control', 'x-frame-options', 'referrer-policy', 'x-content-type-options']
      .map((other) => headers.get(other))
    t.strictSame(others, ['no-store', 'DENY', 'no-referrer', 'nosniff'], name)
    // The link to the application is followed only by a person.
    t.notMatch(await response.text(), /<(?!a )[^<>]*(?:src|href)="(?:https?:)?\/\//, name)
  }
})

t.test('one host name for all pages, unless a proxy may send another one', async (t) => {
  const { origin } = await simulator(t)
  const { host, port } = new URL(origin)
  const home = `${origin}/?a=b`
  const callback = `${origin}/oauth/callback?code=x`
  const named = await simulator(t, { flags: ['--public-url', 'https://portal.test'] })
  const begun = await asked(start(named.origin), 'localhost')
  for (const [url, as, status, location] of [
    [home, host, 200, undefined],
    [home, 'localhost:1', 302, home],
    [home, 'evil.example', 302, home],
    [start(origin), `[::1]:${port}`, 302, start(origin)],
    [callback, `localhost:${port}`, 302, callback],
    [`${origin}//evil.example/`, 'localhost', 302, `${origin}//evil.example/`],
    [named.origin, 'portal.test', 200, undefined],
    [named.origin, 'localhost', 200, undefined]
  ] as const) {
    const { statusCode, headers } = await asked(url, as)
    t.strictSame([statusCode, headers.location], [status, location], `${url} as ${as}`)
  }
  t.match(begun.headers.location, /^\/sign-ins\//, 'begins')
})

t.test('each page leads to the application, without the name and password in its URL', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  const signedIn = await browser.signIn(start(origin))
  const home = await browser.open(origin)
  const none = await browser.open(`${origin}/sign-ins/none`)
  for (const { text, url } of [signedIn, home, none]) t.match(text, `<a href="${baseUrl}/">${baseUrl}/</a>`, url)
  const named = await simulator(t, { baseUrl: 'http://ada:pass-word@localhost:1/app' })
  const { text } = await named.browser.open(named.origin)
  t.match(text, '<a href="http://localhost:1/app">http://localhost:1/app</a>')
  t.notMatch(text, 'pass-word')
})
