// `serve` shows the client secret to nobody, and a sign-in only to the browser that began it: with the simulator on
// another host than loopback, anybody may open its pages.
import t from 'tap'
import { decoded } from '../../../lib/flow/html.ts'
import { basicCredentials, formEncoded } from '../../../lib/flow/requests.ts'
import { PORTAL, RECORDS } from '../../app.ts'
import { respond, responding, sendingBack } from '../../helpers/responses.ts'
import { asked, redirected, simulator, start } from './scene.ts'

/** The client secret as it travels in a form, in a URL and in HTTP Basic. */
const FORMS = [
  PORTAL.clientSecret,
  formEncoded(PORTAL.clientSecret),
  encodeURIComponent(PORTAL.clientSecret),
  basicCredentials(PORTAL.clientId, PORTAL.clientSecret)
].map((text) => text.toLowerCase())

/** The forms that a page has, as they are or as its markup writes them. */
const secretIn = (text: string): string[] =>
  FORMS.filter((form) => `${text}\n${decoded(text)}`.toLowerCase().includes(form))

const TOKEN = { token_type: 'Bearer', access_token: 'the-token' }

for (const [flags, hidden] of [
  [[], []],
  [['--basic', '--pkce'], ['Basic ••••••••', 'code_verifier=••••••••']]
] as const) {
  t.test(`no page shows the client secret: ${flags.join()}`, async (t) => {
    const { origin, browser, terminal } = await simulator(t, { flags: [...flags] })
    const { text } = await browser.signIn(start(origin))
    const found = text.match(/Basic •{8}|code_verifier=•{8}/g)
    t.strictSame(new Set(found), new Set(hidden))
    const trial = await browser.signIn(start(origin, 'ineligible-user'))
    const home = await browser.open(origin)
    t.strictSame(secretIn([text, trial.text, home.text, terminal.out, terminal.err].join()), [])
  })
}

/** JSON with every character escaped: readable only after it was parsed. */
const escaped = (text: string): string =>
  text.replace(/./g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

t.test('no page shows the client secret where the service repeats it', async (t) => {
  const description = `${escaped(PORTAL.clientSecret)} is wrong`
  const body = `{"error":"invalid_client","error_description":"${description}"}`
  const headers = {
    'content-type': 'application/json',
    'x-secret': encodeURIComponent(PORTAL.clientSecret),
    'set-cookie': `s=${encodeURI(PORTAL.clientSecret)}`
  }
  const baseUrl = await sendingBack(t, (_path, response) => respond(response, 400, body, headers))
  const { origin, browser } = await simulator(t, { baseUrl })
  for (const trial of [undefined, 'ineligible-user']) {
    const { text } = await browser.signIn(start(origin, trial))
    t.match(text, '•••••••• is wrong', `what is around it is readable: ${trial}`)
    t.strictSame(secretIn(text), [], `${trial}`)
  }
})

t.test('the client secret is hidden in HTML, in the record, in the terminal', async (t) => {
  const secret = 'Salt & <Pepper> "42"'
  const records = [{ ...RECORDS.ada, name: secret, external_id: secret, [secret]: secret }]
  const spelled = '<h1>Not sAlT &#38; &lt;pepper&#x3E; &quot;42&quot;</h1>'
  const baseUrl = await sendingBack(t, (path, response) => {
    if (path === '/oauth/token') return respond(response, 200, TOKEN)
    const record = records.pop()
    return record === undefined ? respond(response, 400, spelled) : respond(response, 200, record)
  })
  const env = { PORTAL_CLIENT_SECRET: secret }
  const { browser, origin, terminal } = await simulator(t, { baseUrl, env })
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, '<h1>•••••••• is signed in</h1>')
  const refused = await browser.signIn(start(origin))
  t.match(refused.text, '400 with a body of no stated type (“Not ••••••••”)')
  const home = await browser.open(origin)
  t.notMatch([signedIn.text, refused.text, home.text, terminal.out].join('\n'), /pepper/i)
})

t.test('a token is hidden wherever the service repeats it', async (t) => {
  const baseUrl = await sendingBack(t, (path, response) => {
    if (path === '/oauth/user') return respond(response, 200, { ...RECORDS.ada, name: 'Ada the-token' })
    return respond(response, 200, { ...TOKEN, said: 'here is the-token' }, { 'x-said': 'the-token' })
  })
  const { origin, browser } = await simulator(t, { baseUrl })
  const { text } = await browser.signIn(start(origin))
  t.match(text, 'Ada •••••••• is signed in')
  t.notMatch(text, 'the-token')
})

const HALF = 512 * 1024

/** Token responses of a megabyte. */
const LONG = {
  brackets: '['.repeat(HALF) + ']'.repeat(HALF),
  'brackets in an object': `{"a":${'['.repeat(HALF - 8)}${']'.repeat(HALF - 8)}}`,
  'a token': `{"token_type":"Bearer","access_token":"${'x'.repeat(2 * HALF - 100)}"}`
}

t.test('a token response of a megabyte costs no more than its first kilobytes', async (t) => {
  let body = '{}'
  const type = { 'content-type': 'application/json' }
  const baseUrl = await sendingBack(t, (_path, response) => respond(response, 200, body, type))
  const { browser, origin } = await simulator(t, { baseUrl })
  await browser.signIn(start(origin))
  for (const [name, text] of Object.entries(LONG)) {
    body = text
    const before = process.cpuUsage()
    const page = await browser.signIn(start(origin))
    for (let count = 0; count < 5; count++) await browser.open(page.url)
    const { user } = process.cpuUsage(before)
    t.match(page.text, 'The sign-in stopped at step 12', name)
    t.ok(page.text.length < 60_000, `${name}: a page of ${page.text.length} characters`)
    t.ok(user < 3e6, `${name}: ${user} µs`)
  }
})

t.test('a secret on the edge of what is shown of a body is not shown in half', async (t) => {
  const type = { 'content-type': 'text/plain' }
  for (const before of [80 - 20, 80 - 5, 4096 - 20]) {
    const baseUrl = await responding(t, 500, 'x'.repeat(before) + PORTAL.clientSecret, type)
    const { browser, origin } = await simulator(t, { baseUrl })
    const { text } = await browser.signIn(start(origin))
    t.match(text, 'x'.repeat(60), `${before}: the words before it are shown`)
    t.notMatch(text, PORTAL.clientSecret.slice(0, 5), `${before}`)
  }
})

t.test('of a body, the title or first words are shown, and the secret in no encoding', async (t) => {
  const type = { 'content-type': 'text/html' }
  const base64 = Buffer.from(`xy${PORTAL.clientSecret}`).toString('base64')
  const hex = Buffer.from(PORTAL.clientSecret).toString('hex')
  const references = PORTAL.clientSecret.replace(/./g, (one) => `&#${one.charCodeAt(0)};`)
  for (const encoded of [base64, hex, references, references.replaceAll('&', '&amp;')]) {
    const body = `<title>${encoded}</title><p>More of the page</p>`
    const baseUrl = await responding(t, 500, body, { ...type, 'x-debug': `it was ${encoded}` })
    const { browser, origin } = await simulator(t, { baseUrl })
    const page = await browser.signIn(start(origin))
    const text = page.text.replaceAll('&#38;', '&')
    t.notMatch(text, encoded.slice(8, 28), encoded)
    t.notMatch(text, PORTAL.clientSecret.slice(0, 5), encoded)
    t.notMatch(text, 'More of the page', encoded)
  }
})

t.test('another browser sees no sign-in, whatever it asks for', async (t) => {
  const { origin, browser, another } = await simulator(t)
  const page = await browser.signIn(start(origin))
  const own = another('bob')
  const bobs = await own.signIn(start(origin))
  t.match(bobs.text, 'Bob &#60;b&#62;Client&#60;/b&#62; is signed in')
  const forged = another()
  forged.cookies.set('portal-session', 'made-up')
  for (const [who, other] of Object.entries({ nobody: another(), own, forged })) {
    const { status } = await other.open(page.url)
    t.equal(status, 404, who)
    const home = await other.open(origin)
    t.notMatch(home.text, 'Ada Lovelace', `${who}: nor in the list`)
  }
  const again = await browser.open(page.url)
  t.match(again.text, 'Ada Lovelace is signed in')
  await forged.open(start(origin))
  t.match(forged.cookies.get('portal-session'), /^[\w-]{43}$/, 'nor is a session of others taken over')
})

t.test('another browser cannot finish a sign-in', async (t) => {
  const { origin, browser, baseUrl, another } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(start(origin))
  const returnTo = new URL(login.url).searchParams.get('return_to')
  const callback = await redirected(another('ada'), baseUrl + String(returnTo))
  const other = another('bob')
  await other.open(start(origin, 'ineligible-user'))
  const taken = await other.open(callback)
  t.notMatch(taken.text, 'Ada Lovelace')
  const home = await browser.open(origin)
  t.match(home.text, 'Waiting for your service', 'the sign-in still waits for its browser')
  const page = await browser.signIn(callback)
  t.match(page.text, 'Ada Lovelace is signed in', 'which can use the code')
})

t.test('the session cookie: HttpOnly, SameSite=Lax, and Secure behind https', async (t) => {
  for (const [flags, secure] of [
    [[], ''],
    [['--public-url', 'https://portal.test'], 'Secure; ']
  ] as const) {
    const { origin } = await simulator(t, { flags: [...flags] })
    const { host } = new URL(origin)
    const { headers } = await asked(start(origin), host)
    const [cookie] = headers['set-cookie'] ?? []
    const expected = `^portal-session=[\\w-]{43}; Path=/; HttpOnly; ${secure}SameSite=Lax$`
    t.match(cookie, new RegExp(expected), flags.join())
  }
})
