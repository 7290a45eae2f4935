// `serve` shows the client secret to nobody, and a sign-in only to the browser that began it: with the simulator on
// another host than loopback, anybody may open its pages.
import t from 'tap'
import { basicCredentials } from '../../../lib/flow/requests.ts'
import { CLIENT_ID, CLIENT_SECRET, RECORDS } from '../../helpers/partner.ts'
import { respond, responding, sendingBack } from '../../helpers/responses.ts'
import { asked, simulator, start } from '../../helpers/serve.ts'
import type { Page } from '../../helpers/browser.ts'

/** The client secret as it travels in a form, in a URL and in HTTP Basic, and as HTML shows it. */
const FORMS = [
  CLIENT_SECRET,
  new URLSearchParams({ v: CLIENT_SECRET }).toString().slice(2),
  encodeURIComponent(CLIENT_SECRET),
  basicCredentials(CLIENT_ID, CLIENT_SECRET).slice('Basic '.length)
]

function secretIn ({ text }: Page): string[] {
  const lower = text.toLowerCase()
  return FORMS.filter((form) => lower.includes(form.toLowerCase()))
}

for (const flags of [[], ['--basic']]) {
  await t.test(`no page shows the client secret, sent ${flags[0] ?? 'in the form'}`, async (t) => {
    const options = { flags: [...flags, '--code-lifetime', '1'], lifetime: 1 }
    const { origin, browser, terminal } = await simulator(t, options)
    for (const trial of [undefined, 'replayed-code', 'wrong-secret', 'foreign-redirect-uri', 'expired-code']) {
      const page = await browser.signIn(start(origin, trial))
      t.strictSame(secretIn(page), [], `${trial}`)
    }
    t.strictSame(secretIn(await browser.open(origin)), [])
    t.notMatch(terminal.out + terminal.err, CLIENT_SECRET)
  })
}

await t.test('no page shows the client secret where the service repeats it', async (t) => {
  const baseUrl = await sendingBack(t, (_path, response) => {
    response.setHeader('x-secret', encodeURIComponent(CLIENT_SECRET))
    response.setHeader('set-cookie', `s=${encodeURI(CLIENT_SECRET)}`)
    // JSON with every character escaped: readable only after it was parsed.
    const escaped = [...CLIENT_SECRET].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
    response.writeHead(400, { 'content-type': 'application/json' })
      .end(`{"error":"invalid_client","error_description":"${escaped} is wrong","seen":["${escaped}"]}`)
  })
  const { origin, browser } = await simulator(t, { baseUrl })
  for (const trial of [undefined, 'wrong-secret', 'ineligible-user']) {
    const page = await browser.signIn(start(origin, trial))
    t.match(page.text, 'invalid_client', `${trial}`)
    t.match(page.text, '•••••••• is wrong', `what is around it is readable: ${trial}`)
    t.strictSame(secretIn(page), [], `${trial}`)
  }
})

await t.test('the client secret is hidden in another case, in HTML, in the record, in the terminal', async (t) => {
  const secret = 'Salt & <Pepper> "42"'
  const records = [{ ...RECORDS.ada, name: secret, external_id: secret, [secret]: secret }]
  const baseUrl = await sendingBack(t, (path, response) => {
    if (path === '/oauth/token') return respond(response, 200, { token_type: 'Bearer', access_token: 'the-token' })
    const record = records.pop()
    if (record !== undefined) return respond(response, 200, record)
    const page = '<h1>Not sAlT &#38; &lt;pepper&#x3E; &quot;42&quot;</h1>'
    return respond(response, 400, page, { 'content-type': 'text/html' })
  })
  const { browser, origin, terminal } = await simulator(t, { baseUrl, env: { PORTAL_CLIENT_SECRET: secret } })
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, '<h1>•••••••• is signed in</h1>')
  const refused = await browser.signIn(start(origin))
  t.match(refused.text, '&lt;h1&gt;Not ••••••••&lt;/h1&gt;')
  const home = await browser.open(origin)
  t.notMatch([signedIn.text, refused.text, home.text, terminal.out].join('\n'), /.*pepper/i)
})

await t.test('a token response of a megabyte of brackets costs no more than its first kilobytes', async (t) => {
  let body = ''
  const type = { 'content-type': 'application/json' }
  const baseUrl = await sendingBack(t, (_path, response) => respond(response, 200, body, type))
  const { browser, origin } = await simulator(t, { baseUrl })
  const cost = async (text: string) => {
    body = text
    const before = process.cpuUsage()
    const page = await browser.signIn(start(origin))
    for (let count = 0; count < 5; count++) await browser.open(page.url)
    const { user, system } = process.cpuUsage(before)
    return { page: page.text, milliseconds: (user + system) / 1000 }
  }
  await cost('{}')
  const half = 512 * 1024
  for (const [name, text] of [
    ['an array', '['.repeat(half) + ']'.repeat(half)],
    ['an object', `{"a":${'['.repeat(half - 8)}${']'.repeat(half - 8)}}`],
    ['a token', `{"token_type":"Bearer","access_token":"${'x'.repeat(2 * half - 100)}"}`]
  ] as const) {
    const { page, milliseconds } = await cost(text)
    t.match(page, 'The sign-in stopped at step 12', name)
    t.ok(page.length < 60_000, `${name}: a page of ${page.length} characters`)
    t.ok(milliseconds < 3000, `${name}: ${milliseconds} ms`)
  }
})

await t.test('a secret on the edge of what is read or shown is not shown in half', async (t) => {
  for (const edge of [32, 31]) {
    const body = `${'x'.repeat(edge * 1024 - 20)}${CLIENT_SECRET}${'y'.repeat(2000)}`
    const baseUrl = await responding(t, 500, body, { 'content-type': 'text/plain' })
    const { browser, origin } = await simulator(t, { baseUrl })
    const { text } = await browser.signIn(start(origin))
    t.match(text, /x{1000}•*…<\/pre>/, `${edge} KiB`)
    t.notMatch(text, CLIENT_SECRET.slice(0, 8), `${edge} KiB`)
  }
})

await t.test('images on the page of another site push out no sign-in', async (t) => {
  const { origin, browser } = await simulator(t)
  const signedIn = await browser.signIn(start(origin))
  browser.cookies.delete('sid')
  await browser.open(start(origin))
  for (let count = 0; count < 51; count++) await fetch(start(origin), { redirect: 'manual' })
  t.match((await browser.open(signedIn.url)).text, 'Ada Lovelace is signed in')
  const home = await browser.open(origin)
  t.match(home.text, 'Waiting for your service')
  // A browser says what it asks for: then nothing is begun at all.
  for (const path of ['/external-oauth/local', '/oauth/callback?state=x']) {
    for (const dest of ['image', 'iframe', 'script', 'empty']) {
      const response = await browser.open(origin + path, { headers: { 'sec-fetch-dest': dest } })
      t.equal(response.status, 403, `${path} as ${dest}`)
    }
  }
  t.equal((await browser.open(origin)).text, home.text)
  const opened = await browser.open(`${origin}/oauth/callback?state=x`, { headers: { 'sec-fetch-dest': 'document' } })
  t.equal(opened.status, 200)
})

await t.test('another browser sees no sign-in, whatever it asks for', async (t) => {
  const { origin, browser, another } = await simulator(t)
  const page = await browser.signIn(start(origin))
  const foreign = await browser.signIn(start(origin, 'foreign-redirect-uri'))
  const own = another('bob')
  t.match((await own.signIn(start(origin))).text, 'Bob &lt;b&gt;Client&lt;/b&gt; is signed in')
  const forged = another()
  forged.cookies.set('portal-session', 'made-up')
  for (const [who, other] of Object.entries({ nobody: another(), own, forged })) {
    for (const { url } of [page, foreign]) {
      const response = await other.open(url)
      t.equal(response.status, 404, `${who}: ${url}`)
      t.notMatch(response.text, 'Ada Lovelace', `${who}: ${url}`)
    }
    t.notMatch((await other.open(origin)).text, /Ada Lovelace|Foreign redirect_uri:/, `${who}: nor in the list`)
  }
  t.match((await browser.open(page.url)).text, 'Ada Lovelace is signed in')
  t.match((await browser.open(origin)).text, 'Ada Lovelace is signed in')
  t.notMatch((await browser.open(origin)).text, 'Bob &lt;')
})

await t.test('another browser cannot finish a sign-in', async (t) => {
  const { origin, browser, baseUrl, another } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(start(origin))
  const authorize = new URL(String(new URL(login.url).searchParams.get('return_to')), baseUrl).href
  const issued = await another('ada').fetch(authorize)
  const callback = String(issued.headers.get('location'))
  t.match(callback, /code=[\w-]+&state=/)

  const other = another('bob')
  t.equal((await other.open(callback)).status, 400, 'without a sign-in of its own')
  await other.open(start(origin, 'foreign-redirect-uri'))
  t.notMatch((await other.open(callback)).text, 'Ada Lovelace', 'nor with one')

  t.match((await browser.open(origin)).text, 'Waiting for your service', 'the sign-in still waits for its browser')
  t.match((await browser.signIn(callback)).text, 'Ada Lovelace is signed in', 'which can use the code')
})

await t.test('the session cookie: HttpOnly, SameSite=Lax, and Secure behind https', async (t) => {
  const cookieOf = async (origin: string, flags: string[]): Promise<string> => {
    const scene = await simulator(t, { flags })
    const { headers } = await asked(scene.origin + '/external-oauth/local', new URL(origin || scene.origin).host)
    return String(headers['set-cookie'])
  }
  t.match(await cookieOf('', []), /^portal-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  t.match(await cookieOf('https://portal.test', ['--public-url', 'https://portal.test']),
    /^portal-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
})

await t.test('a session that the simulator did not create is not taken over', async (t) => {
  const { origin, browser } = await simulator(t)
  browser.cookies.set('portal-session', 'chosen-by-somebody')
  await browser.open(start(origin))
  t.match(browser.cookies.get('portal-session'), /^[\w-]{43}$/)
})
