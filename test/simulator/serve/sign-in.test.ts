// A developer signs in through the simulator: fifteen steps and a user, or the step that failed and what to do.
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { hookAt, PORTAL } from '../../helpers/partner.ts'
import { freePort } from '../../helpers/ports.ts'
import { respond, responding, sendingBack } from '../../helpers/responses.ts'
import { simulator, start } from '../../helpers/serve.ts'
import type { SceneOptions } from '../../helpers/serve.ts'

t.test('a sign-in: fifteen steps, the record in words, codes and tokens hidden', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  const home = await browser.open(origin)
  t.match(home.text, 'href="/external-oauth/local">Sign in</a>')
  t.notMatch(home.text, 'Sign-ins of this browser')
  const page = await browser.signIn(start(origin))
  t.match(page.url, /\/sign-ins\/[\w-]{16}$/)
  const text = page.text.replaceAll('&amp;', '&').replaceAll('&quot;', '"')
  t.match(text, '<h1>Ada Lovelace is signed in</h1>')
  t.match(text, 'Sign in again: a session cookie with SameSite=Strict')
  t.equal(text.match(/class="step done"/g)?.length, 15)
  t.match(text, '<dt>control_role</dt><dd>Partner Administrator</dd>')
  t.match(text, 'A partner user, at the partner OAuth level.')
  t.notMatch(text, 'http-equiv')
  const order = ['id="record"', 'id="steps"', 'id="trials"'].map((id) => text.indexOf(id))
  t.strictSame(order, [...order].sort((one, other) => one - other), 'for a narrow screen')

  const shown = [...text.matchAll(/<details id="step-(\d+)">\n<summary>([^<]*)</g)].map(([, ...row]) => row.join(' '))
  t.strictSame(shown, [
    '4 GET /oauth/authorize', '7 GET /oauth/callback', '9 POST /oauth/token', '12 POST /oauth/token → 200',
    '13 GET /oauth/user', '15 GET /oauth/user → 200'
  ], 'a request where it is sent, the response where it is returned')
  t.match(text, `<pre>GET ${baseUrl}/oauth/authorize\n  ?client_id=partner-123\n  &redirect_uri=`)
  t.match(text, `<pre>POST ${baseUrl}/oauth/token\nAccept: application/json\n`)
  t.match(text, /\n\nclient_id=partner-123\n&client_secret=•{8}\n&redirect_uri=.*\n&grant_type=.*\n&code=•{8}/)
  t.match(text, /<h3>Response<\/h3><pre>200\ncontent-type: application\/json[^]*\n\n\{.*"access_token":"•{8}"/)
  const times = [...text.matchAll(/<span class="took">([^<]*)</g)].map(([, time]) => time)
  t.match(times, [...Array(11).fill(''), / · \d+ ms/, '', '', / · \d+ ms/], 'the time at the login is the person’s')

  const after = (await browser.open(origin)).text
  t.match(after, /<span class="chip good">pass<\/span>\s<div><a href="[^"]*">Ada Lovelace is signed in/)
})

t.test('the login page stands between: the timeline waits, then continues', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  browser.cookies.delete('sid')
  const begun = await browser.fetch(start(origin))
  t.equal(begun.status, 302, 'no browser keeps it')
  const login = await browser.open(String(begun.headers.get('location')))
  t.match(login.url, `${baseUrl}/login?return_to=`)
  const home = await browser.open(origin)
  const [, path = ''] = /chip wait">running<\/span>\s<div><a href="(\/sign-ins\/[\w-]+)">/.exec(home.text) ?? []
  const waiting = await browser.open(origin + path)
  t.match(waiting.text, 'The browser is at your service.')
  t.match(waiting.text, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  const page = await browser.submit(login.url, { user: 'ada' })
  t.equal(page.url, origin + path)
  t.match(page.text, 'Ada Lovelace is signed in')
})

type Failure = [step: number, expected: RegExp, got: RegExp, fix: RegExp, options: () => Promise<SceneOptions>]

const FAILURES: Failure[] = [
  [9, /200 and JSON/, /401 with the error Unauthorized/, /Exempt this endpoint/,
    async () => ({ change: hookAt('/oauth/token', 401, { error: 'Unauthorized' }) })],
  // Before the browser is sent there.
  [4, /a redirect to the redirect_uri/, /Nothing listens at/, /Start the service/,
    async () => ({ baseUrl: `http://127.0.0.1:${await freePort()}` })],
  [4, /a redirect to the redirect_uri/, /404 with an empty body/, /Check the base URL/,
    async () => ({ baseUrl: await responding(t, 404) })]
]

for (const [step, expected, got, fix, options] of FAILURES) {
  t.test(`what failed, what was expected, what was got, what to do: ${got}`, async (t) => {
    const { origin, browser } = await simulator(t, await options())
    const { text } = await browser.signIn(start(origin))
    t.match(text, `<h1>The sign-in stopped at step ${step}</h1>`)
    for (const [name, fact] of Object.entries({ Expected: expected, Got: got, 'What to do': fix })) {
      t.match(new RegExp(`<dt>${name}</dt><dd>([^<]*)`).exec(text)?.[1], fact, name)
    }
    const [, failed = ''] = text.split(`<li class="step failed" value="${step}">`)
    t.match(failed.split('</li>')[0], /<h3>(?:Response|No response)<\/h3>/, 'with what was sent back')
  })
}

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
  const redirected = async (url: string) => String((await browser.fetch(url)).headers.get('location'))
  const callback = await redirected(await redirected(start(origin)))
  const lost = await another().open(callback)
  t.equal(lost.status, 400)
  t.match(lost.text, 'This browser has no sign-in in progress')
  const page = await browser.open(callback)
  t.match(page.text, '<h1>In progress</h1>')
  const again = await browser.fetch(callback)
  t.match([again.status, page.url], [303, String(again.headers.get('location'))])
  t.equal(held.length, 1)
  for (const response of held) respond(response, 500, {})
  await browser.ended(page)
})
