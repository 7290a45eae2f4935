// A developer signs in through the simulator: fifteen steps and a user, or the step that failed and what to do.
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { hookAt, PORTAL } from '../../app.ts'
import { freePort } from '../../helpers/ports.ts'
import { respond, responding, sendingBack } from '../../helpers/responses.ts'
import { redirected, simulator, start } from './scene.ts'
import type { SceneOptions } from './scene.ts'

const EXCHANGE = /<details id="step-(\d+)">\n<summary>([^<]*)</g

t.test('a sign-in: fifteen steps, the record in words, codes and tokens hidden', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  const home = await browser.open(origin)
  t.match(home.text, 'href="/external-oauth/local">Sign in</a>')
  t.notMatch(home.text, 'Sign-ins of this browser')
  const page = await browser.signIn(start(origin))
  t.match(page.url, /\/sign-ins\/[\w-]{16}$/)
  const text = page.text.replaceAll('&#38;', '&').replaceAll('&#34;', '"')
  t.match(text, '<h1>Ada Lovelace is signed in</h1>')
  t.match(text, 'Now press Sign in again: if you are asked to log in a second time, your session cookie was not sent, ')
  t.equal(text.match(/class="dot done"/g)?.length, 15)
  t.match(text, '<dt>control_role</dt><dd>Partner Administrator</dd>')
  t.match(text, 'A partner user, at the partner OAuth level.')
  t.notMatch(text, 'http-equiv')
  const order = ['id="record"', 'id="steps"', 'id="trial-offer"'].map((id) => text.indexOf(id))
  t.strictSame(order, [...order].sort((one, other) => one - other), 'for a narrow screen')

  const shown = [...text.matchAll(EXCHANGE)].map(([, ...row]) => row.join(' '))
  t.strictSame(shown, [
    '4 GET /oauth/authorize',
    '7 GET /oauth/callback',
    '9 POST /oauth/token',
    '12 POST /oauth/token → 200',
    '13 GET /oauth/user',
    '15 GET /oauth/user → 200'
  ], 'a request where it is sent, the response where it is returned')
  t.match(text, `<pre>GET ${baseUrl}/oauth/authorize\n  ?client_id=partner-123\n  &redirect_uri=`)
  t.match(text, `<pre>POST ${baseUrl}/oauth/token\nAccept: application/json\n`)
  const sent = /\n\nclient_id=partner-123\n&client_secret=•{8}\n&redirect_uri=.*\n&grant_type=.*\n&code=•{8}/
  t.match(text, sent)
  const returned =
    /<h3>Response<\/h3>\s<pre>200\n[^<]*content-type: application\/json[^<]*\n\n\{.*"access_token":"•{8}"/
  t.match(text, returned)
  const times = [...text.matchAll(/<span class="took">([^<]*)</g)].map(([, time]) => time)
  const took = / · \d+ ms/
  t.match(times, [...Array(11).fill(''), took, '', '', took], 'the time at the login is the person’s')

  const after = await browser.open(origin)
  t.match(after.text, /<span class="chip pass">pass<\/span>\s<div><a href="[^"]*">Ada Lovelace is signed in/)
})

t.test('the login page stands between: the timeline waits, then continues', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(await redirected(browser, start(origin)))
  t.match(login.url, `${baseUrl}/login?return_to=`)
  const home = await browser.open(origin)
  const listed = /chip running">running<\/span>\s<div><a href="(\/sign-ins\/[\w-]+)">/
  const [, path = ''] = listed.exec(home.text) ?? []
  const waiting = await browser.open(origin + path)
  t.match(waiting.text, 'The browser is at your service.')
  t.match(waiting.text, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  const page = await browser.submit(login.url, { user: 'ada' })
  t.equal(page.url, origin + path)
  t.match(page.text, 'Ada Lovelace is signed in')
})

interface Failure {
  step: number
  got: RegExp
  expected: RegExp
  fix: RegExp
  options: () => Promise<SceneOptions>
}

const REDIRECT = /a redirect to the redirect_uri/

const FAILURES: Failure[] = [
  {
    step: 9,
    got: /401 with the error Unauthorized/,
    expected: /200 and JSON/,
    fix: /Exempt this endpoint/,
    options: async () => ({ change: hookAt('/oauth/token', 401, { error: 'Unauthorized' }) })
  },
  // Before the browser is sent there.
  {
    step: 4,
    got: /Nothing listens at/,
    expected: REDIRECT,
    fix: /Start the service/,
    options: async () => ({ baseUrl: `http://127.0.0.1:${await freePort()}` })
  },
  {
    step: 4,
    got: /404 with an empty body/,
    expected: REDIRECT,
    fix: /Check the base URL/,
    options: async () => ({ baseUrl: await responding(t, 404) })
  }
]

for (const { step, got, expected, fix, options } of FAILURES) {
  t.test(`what failed, what was expected, what was got, what to do: ${got}`, async (t) => {
    const { origin, browser } = await simulator(t, await options())
    const { text } = await browser.signIn(start(origin))
    t.match(text, `<h1>The sign-in stopped at step ${step}</h1>`)
    for (const [name, fact] of Object.entries({ Expected: expected, Got: got, 'What to do': fix })) {
      const [, value] = new RegExp(`<dt>${name}</dt><dd>([^<]*)`).exec(text) ?? []
      t.match(value, fact, name)
    }
    const [, rest = ''] = text.split(`<li class="step" value="${step}">`)
    const [failed] = rest.split('</li>')
    t.match(failed, '<span class="dot failed">')
    t.match(failed, /<h3>(?:Response|No response)<\/h3>/, 'with what was sent back')
  })
}

t.test('a service that knows nobody by 401 or 403 is not down', async (t) => {
  for (const status of [401, 403]) {
    const { origin, browser } = await simulator(t, {
      change: {
        prepare: (app) => app.addHook('onRequest', async ({ headers, url }, reply) => {
          const isNobody = url.startsWith('/oauth/authorize') && headers.cookie === undefined
          if (isNobody) return reply.code(status).send('Log in')
        })
      }
    })
    const { text } = await browser.signIn(start(origin))
    t.match(text, 'Ada Lovelace is signed in', `${status}`)
  }
})

t.test('a callback that lacks a part of the redirect_uri', async (t) => {
  const redirectUri = 'http://localhost:1/cb?tenant=7'
  const change = { options: { portal: { ...PORTAL, redirectUri } } }
  const { origin, browser } = await simulator(t, { change, flags: ['--redirect-uri', redirectUri] })
  await browser.fetch(start(origin))
  const again = await browser.open(`${origin}/cb?code=x&state=y`)
  t.match(again.text, 'The sign-in stopped at step 7')
  t.match(again.text, 'a redirect to http://localhost:1/cb')
})

t.test('a callback that is loaded again sends no second code, nor does one without a session', async (t) => {
  const held: ServerResponse[] = []
  const baseUrl = await sendingBack(t, (_path, response) => held.push(response))
  const { origin, browser, another } = await simulator(t, { baseUrl })
  const callback = await redirected(browser, await redirected(browser, start(origin)))
  const lost = await another().open(callback)
  t.equal(lost.status, 404)
  t.match(lost.text, /<h1>This sign-in cannot continue<\/h1>\s<p>This browser has no such sign-in\./)
  const page = await browser.open(callback)
  t.match(page.text, '<h1>In progress</h1>')
  t.equal(origin + await redirected(browser, callback), page.url)
  t.equal(held.length, 1)
  for (const response of held) respond(response, 500, {})
  await browser.ended(page)
})

t.test('a callback belongs to the sign-in whose state it brings, or else to the newest', async (t) => {
  const { origin, browser } = await simulator(t)
  const first = await redirected(browser, await redirected(browser, start(origin)))
  const foreign = first.replace(/state=[^&]+/, 'state=foreign')
  await browser.fetch(start(origin))
  t.match((await browser.open(foreign)).text, 'The sign-in stopped at step 8')
  t.match((await browser.signIn(first)).text, 'Ada Lovelace is signed in')
})

t.test('of more than a hundred sign-ins, the oldest is dropped', async (t) => {
  const { origin, browser } = await simulator(t, { baseUrl: await responding(t, 404) })
  const oldest = await browser.open(start(origin))
  for (let count = 1; count < 100; count++) await browser.fetch(start(origin))
  t.equal((await browser.open(oldest.url)).status, 200)
  await browser.fetch(start(origin))
  t.equal((await browser.open(oldest.url)).status, 404)
})
