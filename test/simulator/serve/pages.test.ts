// The pages themselves: nothing is loaded, and nothing of a service is markup.
import t from 'tap'
import { jsonAt } from '../../helpers/partner.ts'
import { responding } from '../../helpers/responses.ts'
import { asked, simulator, start } from '../../helpers/serve.ts'

await t.test('what the service sends is never markup', async (t) => {
  const { origin, browser } = await simulator(t, { change: jsonAt('/oauth/user', { password_hash: 'x' }), user: 'bob' })
  const page = await browser.signIn(start(origin))
  t.match(page.text, 'Bob &lt;b&gt;Client&lt;/b&gt; is signed in')
  t.notMatch(page.text, '<b>Client<')
  t.match(page.text, '<dt>client_id</dt><dd>42</dd>')
  t.match(page.text, 'The portal ignores: <code>password_hash</code>')
})

await t.test('each of the five characters of markup is escaped, in texts and in attributes', async (t) => {
  const hostile = '&amp; <i>\' " onload=x'
  const escaped = '&amp;amp; &lt;i&gt;&#39; &quot; onload=x'
  const { origin, browser } = await simulator(t, { baseUrl: await responding(t, 500, { message: hostile }) })
  const { text } = await browser.signIn(start(origin))
  t.match(text, `<dd>500 with (${escaped})</dd>`)
  t.notMatch(text, hostile)
  t.notMatch(text, '<i>')
})

await t.test('pages load nothing, cannot be framed, keep no copies and send no referrer', async (t) => {
  const { origin, browser } = await simulator(t)
  const signIn = await browser.signIn(start(origin))
  for (const path of ['/', '/sign-ins/none', '/nothing', new URL(signIn.url).pathname]) {
    const { headers, text, status } = await browser.open(origin + path)
    t.equal(status, path.length > 20 || path === '/' ? 200 : 404, path)
    t.match(headers.get('content-security-policy'), new RegExp(
      '^default-src \'none\'; style-src \'sha256-[^\']+\'; script-src \'sha256-[^\']+\'; connect-src \'self\'; ' +
      'img-src data:; base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\'$'
    ), path)
    t.equal(headers.get('cache-control'), 'no-store', path)
    t.equal(headers.get('x-frame-options'), 'DENY', path)
    t.equal(headers.get('referrer-policy'), 'no-referrer', path)
    t.equal(headers.get('x-content-type-options'), 'nosniff', path)
    t.notMatch(text, /(?:src|href)="(?:https?:)?\/\//, path)
    t.match(text, '<html lang="en">', path)
  }
  const begun = await fetch(start(origin), { redirect: 'manual' })
  t.equal(begun.headers.get('referrer-policy'), 'no-referrer', 'nor does the redirect to the service')
})

await t.test('the simulator responds under its own host names only', async (t) => {
  const { origin } = await simulator(t)
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1:80.evil.example', 'evil.localhost']) {
    const response = await asked(origin, host)
    t.equal(response.statusCode, 421, host)
    t.match(String(await response.toArray()), '--public-url', host)
  }
  const others = [['--redirect-uri', 'https://portal.test/oauth/callback'], ['--public-url', 'https://portal.test']]
  for (const flags of others) {
    const { origin } = await simulator(t, { flags })
    t.equal((await asked(`${origin}/oauth/callback`, 'portal.test')).statusCode, 400, `its own, by ${flags[0]}`)
    t.equal((await asked(`${origin}/oauth/callback`, 'other.test')).statusCode, 421, `nor by ${flags[0]}`)
  }
  const { port } = new URL(origin)
  for (const host of ['localhost', 'localhost:1', `localhost:${port}`, `[::1]:${port}`, '127.0.0.1:1']) {
    const { statusCode, headers } = await asked(`${origin}/?a=b`, host)
    t.strictSame([statusCode, headers.location], [302, `${origin}/?a=b`], `${host}: led to the one host name`)
  }
})
