// `serve` shows the client secret to nobody, and a sign-in only to the browser that began it: with the simulator on
// another host than loopback, anybody may open its pages.
import t, { type Test } from 'tap'
import { basicCredentials } from '../../../lib/testing/requests.ts'
import { hideClientSecret } from '../../../lib/simulator/serve/client-secret.ts'
import { integration } from '../../../lib/testing/settings.ts'
import { httpServer } from '../../helpers/raw-server.ts'
import { CLIENT_ID, CLIENT_SECRET } from '../../helpers/spec-server.ts'
import { Browser, type Page, simulator, start } from './scene.ts'

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
    const options = { flags: [...flags, '--code-lifetime', '0'], lifetime: 0.1 }
    const { origin, browser, out, err } = await simulator(t, options)
    for (const trial of [undefined, 'replayed-code', 'wrong-secret', 'foreign-redirect-uri', 'expired-code']) {
      const page = await browser.signIn(start(origin, trial))
      t.strictSame(secretIn(page), [])
      const shown = await browser.open(`${page.url}?secrets=shown`)
      t.match(shown.text, 'Hide codes and tokens')
      t.strictSame(secretIn(shown), [])
    }
    t.strictSame(secretIn(await browser.open(origin)), [])
    t.notMatch(out() + err(), CLIENT_SECRET)
  })
}

/** A service that repeats the client secret wherever it can. */
async function echoing (t: Test, redirectUri: () => string): Promise<string> {
  return await httpServer(t, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    const headers = { 'x-secret': encodeURIComponent(CLIENT_SECRET), 'set-cookie': `s=${encodeURI(CLIENT_SECRET)}` }
    if (pathname === '/oauth/authorize') {
      const back = new URL(redirectUri())
      back.search = new URLSearchParams({ code: 'a-code', state: String(searchParams.get('state')) }).toString()
      response.writeHead(302, { ...headers, location: back.href }).end()
    } else {
      // JSON with every character escaped: readable only after it was parsed.
      const escaped = [...CLIENT_SECRET].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
      response.writeHead(400, { ...headers, 'content-type': 'application/json' })
        .end(`{"error":"invalid_client","error_description":"${escaped} is wrong","seen":["${escaped}"]}`)
    }
  })
}

await t.test('nor where the service repeats it', async (t) => {
  let origin = ''
  const baseUrl = await echoing(t, () => `${origin}/oauth/callback`)
  const scene = await simulator(t, { baseUrl })
  origin = scene.origin
  for (const trial of [undefined, 'wrong-secret', 'ineligible-user']) {
    const page = await scene.browser.signIn(start(origin, trial))
    const shown = await scene.browser.open(`${page.url}?secrets=shown`)
    t.match(shown.text, 'invalid_client')
    t.match(shown.text, '•••••••• is wrong', 'what stands around it is readable')
    t.strictSame([secretIn(page), secretIn(shown)], [[], []])
  }
})

await t.test('a short secret is hidden as a word, and the text around it stays readable', async (t) => {
  const portal = integration({
    baseUrl: 'http://localhost', clientId: 'a', clientSecret: 'et', redirectUri: 'http://localhost/cb'
  })
  t.strictSame(hideClientSecret(portal)({ said: ['the secret is “et”', 'et'], status: 400, none: null }), {
    said: ['the secret is “••••••••”', '••••••••'], status: 400, none: null
  })
})

await t.test('another browser sees no sign-in, whatever it asks for', async (t) => {
  const { origin, browser } = await simulator(t, { mistakes: [] })
  const page = await browser.signIn(start(origin))
  const foreign = await browser.signIn(start(origin, 'foreign-redirect-uri'))
  const own = new Browser()
  own.cookies.set('sid', 'bob')
  t.match((await own.signIn(start(origin))).text, 'Bob &lt;b&gt;Client&lt;/b&gt; is signed in')
  const forged = new Browser()
  forged.cookies.set('portal-session', 'made-up')
  for (const other of [new Browser(), own, forged]) {
    for (const path of ['', '?secrets=shown', '/service-page']) {
      for (const { url } of [page, foreign]) {
        const answer = await other.open(url + path)
        t.equal(answer.status, 404)
        t.notMatch(answer.text, 'Ada Lovelace')
      }
    }
    t.notMatch((await other.open(origin)).text, /Ada Lovelace|Foreign redirect_uri:/, 'nor in the list')
  }
  t.match((await browser.open(page.url)).text, 'Ada Lovelace is signed in')
  t.match((await browser.open(origin)).text, 'Ada Lovelace is signed in')
  t.notMatch((await browser.open(origin)).text, 'Bob &lt;')
})

await t.test('another browser cannot finish a sign-in', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(start(origin))
  const authorize = new URL(String(new URL(login.url).searchParams.get('return_to')), baseUrl).href
  const issued = await fetch(authorize, { redirect: 'manual', headers: { cookie: 'sid=ada' } })
  const callback = String(issued.headers.get('location'))
  t.match(callback, /code=[\w-]{43}&state=/)

  const other = new Browser()
  other.cookies.set('sid', 'bob')
  t.equal((await other.open(callback)).status, 400, 'without a sign-in of its own')
  await other.open(start(origin, 'foreign-redirect-uri'))
  t.notMatch((await other.open(callback)).text, 'Ada Lovelace', 'nor with one')

  t.match((await browser.open(origin)).text, 'Waiting for your service', 'the sign-in still waits for its browser')
  t.match((await browser.signIn(callback)).text, 'Ada Lovelace is signed in', 'which can use the code')
})

await t.test('the session cookie: HttpOnly, SameSite=Lax, and Secure behind https', async (t) => {
  const cookieOf = async (url: string, host: string, origin: string): Promise<string> => {
    const { request } = await import('node:http')
    return await new Promise((resolve, reject) => {
      request(origin + url, { headers: { host } }, (response) => {
        response.resume()
        resolve(String(response.headers['set-cookie']))
      }).on('error', reject).end()
    })
  }
  const plain = await simulator(t)
  t.match(await cookieOf('/external-oauth/local', new URL(plain.origin).host, plain.origin),
    /^portal-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
  const secure = await simulator(t, { flags: ['--public-url', 'https://portal.test'] })
  t.match(await cookieOf('/external-oauth/local', 'portal.test', secure.origin),
    /^portal-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
})

await t.test('a session that the simulator did not create is not taken over', async (t) => {
  const { origin, browser } = await simulator(t)
  browser.cookies.set('portal-session', 'chosen-by-somebody')
  await browser.open(start(origin))
  t.match(browser.cookies.get('portal-session'), /^[\w-]{43}$/)
})
