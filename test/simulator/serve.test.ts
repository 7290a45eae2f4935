// A developer signs in through the simulator with a browser; the tests play the browser, without JavaScript.
import t, { type Test } from 'tap'
import { run } from '../../lib/simulator/run.ts'
import { program } from '../helpers/program.ts'
import { freePort, httpServer } from '../helpers/raw-server.ts'
import { CLIENT_ID, CLIENT_SECRET, listening, type Mistake } from '../helpers/spec-server.ts'

interface Page { url: string, status: number, text: string, headers: Headers }

/** Follows redirects and keeps cookies by name, as browsers do for localhost whatever the port. */
class Browser {
  readonly cookies = new Map<string, string>()

  async open (url: string, init: RequestInit = {}): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { cookie, ...init.headers as Record<string, string> } })
    for (const line of response.headers.getSetCookie()) this.cookies.set(...line.split(';')[0]?.split('=') as [string, string])
    const location = response.headers.get('location')
    if (location !== null) return this.open(new URL(location, url).href)
    return { url, status: response.status, text: await response.text(), headers: response.headers }
  }

  /** Reloads until the sign-in is over, as the page asks of a browser without script. */
  async settled (page: Page): Promise<Page> {
    if (!page.text.includes('data-ended="false"')) return page
    await new Promise((resolve) => setTimeout(resolve, 100))
    return this.settled(await this.open(page.url))
  }
}

interface Simulator { origin: string, out: () => string, err: () => string, baseUrl: string, browser: Browser }

async function simulator (t: Test, mistakes: Mistake[] = [], more: string[] = [], options: { user?: string, lifetime?: number, baseUrl?: string } = {}): Promise<Simulator> {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const service = await listening(t, { mistakes, redirectUri: `${origin}/oauth/callback`, lifetime: options.lifetime ?? 60 })
  const baseUrl = options.baseUrl ?? service.baseUrl
  const stop = new AbortController()
  let out = ''
  let err = ''
  const argv = ['serve', '--base-url', baseUrl, '--client-id', CLIENT_ID, '--port', String(port), '--timeout', '1', ...more]
  const ready = new Promise<void>((resolve) => {
    const running = run(argv, { env: { PORTAL_CLIENT_SECRET: CLIENT_SECRET }, out: (text) => { out += text; setImmediate(resolve) }, err: (text) => { err += text }, stop: stop.signal })
    t.teardown(async () => {
      stop.abort()
      if (await running !== 0) throw new Error('serve did not end well')
    })
  })
  await ready
  const browser = new Browser()
  browser.cookies.set('sid', options.user ?? 'ada')
  return { origin, out: () => out, err: () => err, baseUrl, browser }
}

const start = (origin: string, trial?: string): string => `${origin}/external-oauth/local${trial === undefined ? '' : `?trial=${trial}`}`

await t.test('the terminal says what the service needs; --open prints the address alone', async (t) => {
  const { out, origin, err } = await simulator(t)
  t.match(out(), `login_url      ${origin}/external-oauth/local`)
  t.match(out(), `redirect_uri   ${origin}/oauth/callback`)
  t.notMatch(out(), CLIENT_SECRET)
  t.equal(err(), '')
  const plain = await simulator(t, [], ['--open', '--redirect-uri', 'http://localhost:1/oauth/callback'])
  t.equal(plain.out(), `${plain.origin}/\n`)
  t.match(plain.err(), 'sign-ins come back only if it leads here')
})

await t.test('a sign-in: fifteen steps, the record in words, secrets masked until asked for', async (t) => {
  const { origin, browser } = await simulator(t)
  const home = await browser.open(origin)
  t.match(home.text, 'href="/external-oauth/local">Sign in</a>')
  const page = await browser.open(start(origin))
  t.match(page.url, /\/sign-ins\/[\w-]{16}$/)
  t.match(page.text, '<h1>Ada Lovelace is signed in</h1>')
  t.equal(page.text.match(/class="step done"/g)?.length, 15)
  t.match(page.text, 'Can manage the partner’s clients, merchants, descriptors and the like.')
  t.match(page.text, 'Can manage alerts, chargebacks, RDRs and the like.')
  t.match(page.text, 'A partner user, at the partner OAuth level.')
  t.notMatch(page.text, CLIENT_SECRET)
  t.notMatch(page.text, 'http-equiv')
  const shown = await browser.open(`${page.url}?secrets=shown`)
  t.match(shown.text, CLIENT_SECRET)
  const [, token = 'x'] = /access_token&quot;: &quot;([\w-]{43})/.exec(shown.text) ?? []
  const [, code = 'x'] = /<dt>code<\/dt><dd>([\w-]{43})/.exec(shown.text) ?? []
  t.ok(token.length === 43 && code.length === 43)
  t.notMatch(page.text, token)
  t.notMatch(page.text, code)
  t.match((await browser.open(origin)).text, /<i class="good"><\/i><b>Ada Lovelace is signed in/)
})

await t.test('what the service sends is never markup', async (t) => {
  const { origin, browser } = await simulator(t, ['extra-fields'], [], { user: 'bob' })
  const page = await browser.open(start(origin))
  t.match(page.text, 'Bob &lt;b&gt;Client&lt;/b&gt; is signed in')
  t.notMatch(page.text, '<b>Client<')
  t.match(page.text, 'The portal’s client identifier</dt><dd class="mono">42')
  t.match(page.text, 'ignores: <code>password_hash</code>')
})

await t.test('the login page stands between: the timeline waits, then goes on', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(start(origin))
  t.match(login.url, `${baseUrl}/login?return_to=`)
  const home = await browser.open(origin)
  const [, path = ''] = /href="(\/sign-ins\/[\w-]+)"><i class="wait">/.exec(home.text) ?? []
  const waiting = await browser.open(origin + path)
  t.match(waiting.text, 'Waiting for your service')
  t.match(waiting.text, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  t.match(waiting.text, 'The browser is at your service.')
  const page = await browser.open(login.url, { method: 'POST', body: new URLSearchParams({ user: 'ada' }) })
  t.equal(page.url, origin + path)
  t.match(page.text, 'Ada Lovelace is signed in')
})

const TRIALS: Array<[trial: string, mistakes: Mistake[], title: string, sentence: RegExp, user?: string]> = [
  ['replayed-code', [], 'Refused, as it should be', /400 with the error invalid_grant/],
  ['replayed-code', ['reusable-code'], 'The service let it through', /Remove the code/],
  ['replayed-code', ['plain-errors'], 'Refused, as it should be', /The error should be invalid_grant\./],
  ['replayed-code', ['html-token'], 'The sign-in stopped at step 12', /application\/json/],
  ['wrong-secret', [], 'Refused, as it should be', /invalid_client \(Refused\.\) The code stayed good\./],
  ['wrong-secret', ['burns-code'], 'Refused, but the code was burnt by it', /Check the credentials before/],
  ['wrong-secret', ['any-secret'], 'The service let it through', /Check client_id and client_secret/],
  ['foreign-redirect-uri', [], 'Refused, as it should be', /400 with text\/html/],
  ['foreign-redirect-uri', ['any-redirect-uri'], 'The service asks for a login first', /behind the login/],
  ['foreign-redirect-uri', ['any-redirect-uri', 'no-login-check'], 'The service let it through', /as whole strings/],
  ['expired-code', [], 'Refused, as it should be', /invalid_grant/],
  ['expired-code', ['code-never-expires'], 'The service let it through', /Let codes expire/],
  ['ineligible-user', [], 'Refused, as it should be', /access_denied/, 'eve'],
  ['ineligible-user', ['everyone-eligible'], 'The service let it through', /Ask for each user/, 'eve'],
  ['ineligible-user', ['state-lost'], 'Refused, as it should be', /access_denied/, 'eve'],
  ['ineligible-user', ['state-lost'], 'The trial could not be made', /another reason: no state/]
]

for (const [trial, mistakes, title, sentence, user] of TRIALS) {
  await t.test(`${trial}: ${[...mistakes, user ?? ''].join(' ')}`, async (t) => {
    const { origin, browser } = await simulator(t, mistakes, ['--code-lifetime', '0'], { user: user ?? 'ada', lifetime: 0.3 })
    const page = await browser.settled(await browser.open(start(origin, trial)))
    t.match(page.text, `<h1>${title}</h1>`)
    t.match(page.text.replace(/&#39;/g, '\''), sentence)
    t.match(page.text, /class="chip (?:good|bad)">Trial: /)
  })
}

await t.test('while a code grows old the page says so', async (t) => {
  const { origin, browser } = await simulator(t, [], ['--code-lifetime', '60'])
  const page = await browser.open(start(origin, 'expired-code'))
  t.match(page.text, '<h1>Under way</h1>')
  t.match(page.text, 'Waiting 61 s, until the code has expired.')
  t.match(page.text, 'class="step running"')
  t.equal((await browser.open(`${origin}/oauth/callback?code=x&state=y`)).url, page.url)
  t.match((await browser.open(page.url)).text, 'class="step running"')
})

await t.test('while a trial’s own request is under way the page says so; without an answer the trial says nothing', async (t) => {
  let redirectUri = ''
  const baseUrl = await httpServer(t, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname === '/oauth/authorize') response.writeHead(302, { Location: `${redirectUri}?code=the-code&state=${searchParams.get('state')}` }).end()
  })
  const { origin, browser } = await simulator(t, [], ['--timeout', '2'], { baseUrl })
  redirectUri = `${origin}/oauth/callback`
  const page = await browser.open(start(origin, 'wrong-secret'))
  t.match(page.text, 'The next step is under way.')
  const ended = await browser.settled(page)
  t.match(ended.text, 'The trial could not be made')
  t.match(ended.text, 'no complete answer within 2 s')
  t.match((await browser.open(`${page.url}?secrets=shown`)).text, '<dd>the-code</dd>')
})

await t.test('when something fails: which step, what was expected, what came, what to do', async (t) => {
  const cases: Array<[Mistake, number, RegExp, RegExp]> = [
    ['wrong-role', 15, /control_role of a partner user must be/, /Correct the record/],
    ['state-changed', 8, /1 state, not the one that was sent/, /Send the received state back unchanged/],
    ['auth-hook', 9, /401 with the error Unauthorized \(Log in first\)/, /Exempt this endpoint/],
    ['html-token', 12, /200 with text\/html \(“Welcome”\)/, /Content-Type: application\/json/],
    ['user-404', 13, /404 with/, /Check the base URL/]
  ]
  for (const [mistake, step, came, mend] of cases) {
    const { origin, browser } = await simulator(t, [mistake])
    const page = await browser.open(start(origin))
    t.match(page.text, `<h1>The sign-in stopped at step ${step}</h1>`)
    t.match(page.text, `<dt>Step ${step}</dt>`)
    t.match(page.text, came)
    t.match(page.text, mend)
    t.match(page.text, new RegExp(`class="step failed" value="${step}"`))
  }
})

await t.test('a service that is not there is told before the browser is sent to it', async (t) => {
  const gone = `http://127.0.0.1:${await freePort()}`
  const cases: Array<[string, number, RegExp]> = [
    [gone, 4, /Nothing listens at/],
    [await httpServer(t, (_request, response) => { response.writeHead(404).end() }), 4, /404 with an empty body/],
    [await httpServer(t, (_request, response) => { response.writeHead(502).end('bad gateway '.repeat(400)) }), 5, /502 with a body of no stated type/],
    [await httpServer(t, () => {}), 4, /no complete answer within 1 s/]
  ]
  for (const [baseUrl, step, came] of cases) {
    const { origin, browser } = await simulator(t, [], [], { baseUrl })
    const page = await browser.open(start(origin))
    t.match(page.text, `The sign-in stopped at step ${step}`)
    t.match(page.text, came)
    const foreign = await browser.open(start(origin, 'foreign-redirect-uri'))
    t.match(foreign.text, step === 4 && !came.source.includes('404') ? 'The trial could not be made' : 'Refused, as it should be')
  }
})

await t.test('a client_id that the service does not know', async (t) => {
  const { origin, browser } = await simulator(t, [], ['--client-id', 'nobody'])
  t.match((await browser.open(start(origin))).text, 'Compare client_id and redirect_uri')
})

await t.test('a callback that lacks a part of the redirect_uri', async (t) => {
  const { origin, browser } = await simulator(t, ['any-redirect-uri'], ['--redirect-uri', 'http://localhost:1/cb?tenant=7'])
  browser.cookies.delete('sid')
  const response = await fetch(`${origin}/external-oauth/local`, { redirect: 'manual' })
  browser.cookies.set(...String(response.headers.getSetCookie()[0]).split(';')[0]?.split('=') as [string, string])
  const again = await browser.open(`${origin}/cb?code=x&state=y`)
  t.match(again.text, 'The sign-in stopped at step 7')
  t.match(again.text, 'A redirect to http://localhost:1/cb')
})

await t.test('at the client level', async (t) => {
  const { origin, browser } = await simulator(t, [], ['--level', 'client'], { user: 'bob' })
  t.match((await browser.open(origin)).text, 'Client OAuth level: client users only.')
  t.match((await browser.open(start(origin))).text, 'A client user, at the client OAuth level.')
})

await t.test('a return without a session, with a used one, and under another name', async (t) => {
  const { origin, browser } = await simulator(t)
  const lost = await new Browser().open(`${origin}/oauth/callback?code=x&state=y`)
  t.equal(lost.status, 400)
  t.match(lost.text, 'No sign-in is under way in this browser')
  const page = await browser.open(start(origin))
  t.equal((await browser.open(`${origin}/oauth/callback?code=x&state=y`)).url, page.url)
  t.match((await browser.open(page.url)).text, 'Ada Lovelace is signed in')
  const other = await browser.open(start(origin).replace('localhost', '127.0.0.1'))
  t.match(other.url, `${origin}/sign-ins/`)
})

await t.test('pages load nothing, cannot be framed, and keep no copies', async (t) => {
  const { origin, browser } = await simulator(t)
  for (const path of ['/', '/sign-ins/none', '/nothing']) {
    const { headers, text, status } = await browser.open(origin + path)
    t.equal(status, path === '/' ? 200 : 404)
    t.match(headers.get('content-security-policy'), /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'/)
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('x-frame-options'), 'DENY')
    t.notMatch(text, /(?:src|href)="(?:https?:)?\/\//)
    t.match(text, '<html lang="en">')
  }
})

await t.test('it answers under its own names only', async (t) => {
  const { origin } = await simulator(t)
  const { request } = await import('node:http')
  const status = await new Promise((resolve, reject) => {
    request(origin, { headers: { host: 'evil.example' } }, (response) => { resolve(response.resume().statusCode) }).on('error', reject).end()
  })
  t.equal(status, 421)
})

await t.test('the oldest of many sign-ins is forgotten', async (t) => {
  const { origin, browser } = await simulator(t)
  const first = await browser.open(start(origin))
  for (let count = 0; count < 50; count++) await browser.open(start(origin, 'foreign-redirect-uri'))
  t.equal((await browser.open(first.url)).status, 404)
  t.equal((await browser.open(origin)).text.match(/href="\/sign-ins\//g)?.length, 50)
})

await t.test('a port in use, an address that is not ours', async (t) => {
  const { origin } = await simulator(t)
  const argv = ['serve', '--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b']
  t.match(await program([...argv, '--port', new URL(origin).port]), { code: 2, err: /Port \d+ is in use: choose another with --port\./ })
  t.match(await program([...argv, '--host', '203.0.113.1', '--port', String(await freePort())]), { code: 2, err: /cannot listen at 203\.0\.113\.1/ })
})

await t.test('behind https and under a public name', async (t) => {
  const { browser, origin, out } = await simulator(t, [], ['--public-url', 'https://portal.test', '--redirect-uri', 'https://portal.test/cb'])
  t.match(out(), 'login_url      https://portal.test/external-oauth/local')
  const response = await fetch(`${origin}/external-oauth/local`, { redirect: 'manual' })
  t.equal(response.headers.get('location'), 'https://portal.test/external-oauth/local')
  t.equal((await browser.open(`${origin}/cb`)).status, 400)
})
