// `serve` shows the client secret to nobody, and a sign-in only to the browser that began it: with the simulator on
// another host than loopback, anybody may open its pages.
import t from 'tap'
import { basicCredentials, formEncoded } from '../../../lib/flow/requests.ts'
import { CLIENT_ID, CLIENT_SECRET, RECORDS } from '../../helpers/partner.ts'
import { respond, responding, sendingBack } from '../../helpers/responses.ts'
import { asked, simulator, start } from '../../helpers/serve.ts'

/** The client secret as it travels in a form, in a URL and in HTTP Basic. */
const FORMS = [
  CLIENT_SECRET,
  formEncoded(CLIENT_SECRET),
  encodeURIComponent(CLIENT_SECRET),
  basicCredentials(CLIENT_ID, CLIENT_SECRET)
].map((text) => text.toLowerCase())

const secretIn = (text: string): string[] => FORMS.filter((form) => text.toLowerCase().includes(form))

for (const flags of [[], ['--basic'], ['--pkce']]) {
  t.test(`no page shows the client secret: ${flags.join()}`, async (t) => {
    const options = { flags: [...flags, '--code-lifetime', '1'], lifetime: 1 }
    const { origin, browser, terminal } = await simulator(t, options)
    const { text } = await browser.signIn(start(origin))
    t.strictSame(new Set(text.match(/Basic •{8}|code_verifier=•{8}/g)), new Set(flags.map((flag) =>
      flag === '--basic' ? 'Basic ••••••••' : 'code_verifier=••••••••')))
    const trials = ['replayed-code', 'wrong-secret', 'foreign-redirect-uri', 'expired-code']
    const pages = [text]
    for (const trial of trials) pages.push((await browser.signIn(start(origin, trial))).text)
    t.strictSame(secretIn([...pages, (await browser.open(origin)).text, terminal.out, terminal.err].join()), [])
  })
}

t.test('no page shows the client secret where the service repeats it', async (t) => {
  const baseUrl = await sendingBack(t, (_path, response) => {
    // JSON with every character escaped: readable only after it was parsed.
    const escaped = CLIENT_SECRET.replace(/./g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
    respond(response, 400, `{"error":"invalid_client","error_description":"${escaped} is wrong"}`, {
      'content-type': 'application/json',
      'x-secret': encodeURIComponent(CLIENT_SECRET),
      'set-cookie': `s=${encodeURI(CLIENT_SECRET)}`
    })
  })
  const { origin, browser } = await simulator(t, { baseUrl })
  for (const trial of [undefined, 'wrong-secret', 'ineligible-user']) {
    const { text } = await browser.signIn(start(origin, trial))
    t.match(text, '•••••••• is wrong', `what is around it is readable: ${trial}`)
    t.strictSame(secretIn(text), [], `${trial}`)
  }
})

t.test('the client secret is hidden in HTML, in the record, in the terminal', async (t) => {
  const secret = 'Salt & <Pepper> "42"'
  const records = [{ ...RECORDS.ada, name: secret, external_id: secret, [secret]: secret }]
  const baseUrl = await sendingBack(t, (path, response) => {
    if (path === '/oauth/token') return respond(response, 200, { token_type: 'Bearer', access_token: 'the-token' })
    const record = records.pop()
    if (record !== undefined) return respond(response, 200, record)
    return respond(response, 400, '<h1>Not sAlT &#38; &lt;pepper&#x3E; &quot;42&quot;</h1>')
  })
  const { browser, origin, terminal } = await simulator(t, { baseUrl, env: { PORTAL_CLIENT_SECRET: secret } })
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, '<h1>•••••••• is signed in</h1>')
  const refused = await browser.signIn(start(origin))
  t.match(refused.text, '&#60;h1&#62;Not ••••••••&#60;/h1&#62;')
  const home = await browser.open(origin)
  t.notMatch([signedIn.text, refused.text, home.text, terminal.out].join('\n'), /pepper/i)
})

t.test('the token that a trial was given is hidden wherever the service repeats it', async (t) => {
  let tokens = 0
  const baseUrl = await sendingBack(t, (path, response) => {
    if (path === '/oauth/user') return respond(response, 200, RECORDS.ada)
    const token = `the-token-${++tokens}`
    return respond(response, 200, { token_type: 'Bearer', access_token: token, said: `here is ${token}` })
  })
  const { origin, browser } = await simulator(t, { baseUrl })
  const { text } = await browser.signIn(start(origin, 'replayed-code'))
  t.equal(tokens, 2)
  t.notMatch(text, /the-token-\d/)
})

t.test('a token response of a megabyte of brackets costs no more than its first kilobytes', async (t) => {
  const half = 512 * 1024
  let body = '{}'
  const type = { 'content-type': 'application/json' }
  const baseUrl = await sendingBack(t, (_path, response) => respond(response, 200, body, type))
  const { browser, origin } = await simulator(t, { baseUrl })
  await browser.signIn(start(origin))
  for (const text of [
    '['.repeat(half) + ']'.repeat(half),
    `{"a":${'['.repeat(half - 8)}${']'.repeat(half - 8)}}`,
    `{"token_type":"Bearer","access_token":"${'x'.repeat(2 * half - 100)}"}`
  ]) {
    body = text
    const before = process.cpuUsage()
    const page = await browser.signIn(start(origin))
    for (let count = 0; count < 5; count++) await browser.open(page.url)
    const { user } = process.cpuUsage(before)
    const name = text.slice(0, 20)
    t.match(page.text, 'The sign-in stopped at step 12', name)
    t.ok(page.text.length < 60_000, `${name}: a page of ${page.text.length} characters`)
    t.ok(user < 3e6, `${name}: ${user} µs`)
  }
})

t.test('a secret on the edge of what is read or shown is not shown in half', async (t) => {
  for (const [length, rest, shown] of [
    [32 * 1024 - 20, CLIENT_SECRET + 'y'.repeat(2000), /x{1000}…<\/pre>/],
    [31 * 1024 - 20, CLIENT_SECRET + 'y'.repeat(2000), /x{1000}•*…<\/pre>/],
    [32 * 1024, '', /\n\nx{32768}<\/pre>/]
  ] as const) {
    const type = { 'content-type': 'text/plain' }
    const { browser, origin } = await simulator(t, {
      baseUrl: await responding(t, 500, 'x'.repeat(length) + rest, type)
    })
    const { text } = await browser.signIn(start(origin))
    t.match(text, shown, `${length}`)
    t.notMatch(text, CLIENT_SECRET.slice(0, 8), `${length}`)
  }
})

t.test('another browser sees no sign-in, whatever it asks for', async (t) => {
  const { origin, browser, another } = await simulator(t)
  const page = await browser.signIn(start(origin))
  const own = another('bob')
  t.match((await own.signIn(start(origin))).text, 'Bob &#60;b&#62;Client&#60;/b&#62; is signed in')
  const forged = another()
  forged.cookies.set('portal-session', 'made-up')
  for (const [who, other] of Object.entries({ nobody: another(), own, forged })) {
    t.equal((await other.open(page.url)).status, 404, who)
    t.notMatch((await other.open(origin)).text, 'Ada Lovelace', `${who}: nor in the list`)
  }
  t.match((await browser.open(page.url)).text, 'Ada Lovelace is signed in')
  await forged.open(start(origin))
  t.match(forged.cookies.get('portal-session'), /^[\w-]{43}$/, 'nor is a session of others taken over')
})

t.test('another browser cannot finish a sign-in', async (t) => {
  const { origin, browser, baseUrl, another } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(start(origin))
  const authorize = new URL(String(new URL(login.url).searchParams.get('return_to')), baseUrl).href
  const issued = await another('ada').fetch(authorize)
  const callback = String(issued.headers.get('location'))
  const other = another('bob')
  await other.open(start(origin, 'foreign-redirect-uri'))
  t.notMatch((await other.open(callback)).text, 'Ada Lovelace')
  t.match((await browser.open(origin)).text, 'Waiting for your service', 'the sign-in still waits for its browser')
  t.match((await browser.signIn(callback)).text, 'Ada Lovelace is signed in', 'which can use the code')
})

t.test('the session cookie: HttpOnly, SameSite=Lax, and Secure behind https', async (t) => {
  for (const [flags, host, secure] of [
    [[], undefined, ''], [['--public-url', 'https://portal.test'], 'portal.test', 'Secure; ']
  ] as const) {
    const { origin } = await simulator(t, { flags: [...flags] })
    const { headers } = await asked(start(origin), host ?? new URL(origin).host)
    const expected = new RegExp(`^portal-session=[\\w-]{43}; Path=/; HttpOnly; ${secure}SameSite=Lax$`)
    t.match(String(headers['set-cookie']), expected, flags.join())
  }
})
