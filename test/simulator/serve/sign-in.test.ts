// A developer signs in through the simulator: fifteen steps and a user, or the step that failed and what to do.
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { freePort } from '../../helpers/ports.ts'
import { CLIENT_SECRET, hookAt, jsonAt, PORTAL } from '../../helpers/partner.ts'
import { respond, responding, sendingBack } from '../../helpers/responses.ts'
import { simulator, start } from '../../helpers/serve.ts'
import type { SceneOptions, Simulator } from '../../helpers/serve.ts'

await t.test('a sign-in: fifteen steps, the record in words, codes and tokens hidden', async (t) => {
  const { origin, browser } = await simulator(t)
  const home = await browser.open(origin)
  t.match(home.text, 'href="/external-oauth/local">Sign in</a>')
  t.notMatch(home.text, 'Sign-ins of this browser')
  const page = await browser.signIn(start(origin))
  t.match(page.url, /\/sign-ins\/[\w-]{16}$/)
  t.match(page.text, '<h1>Ada Lovelace is signed in</h1>')
  t.equal(page.text.match(/class="step done"/g)?.length, 15)
  t.match(page.text, '<dt>control_role</dt><dd>Partner Administrator</dd>')
  t.match(page.text, 'Sign in again: a session cookie with SameSite=Strict')
  t.match(page.text, 'A partner user, at the partner OAuth level.')
  t.notMatch(page.text, CLIENT_SECRET)
  t.notMatch(page.text, 'http-equiv')
  t.match(page.text, 'access_token&quot;:&quot;••••••••&quot;')
  t.match(page.text, '\n&amp;code=••••••••')
  const after = (await browser.open(origin)).text
  t.match(after, /<span class="chip good">pass<\/span>\s<div><a href="[^"]*">Ada Lovelace is signed in/)
  t.match(after, '<p class="quiet">Another browser sees its own')
})

await t.test('somebody else: the login page first, whoever is logged in', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  const page = await browser.signIn(start(origin))
  t.match(page.text, 'href="/external-oauth/local?login">Log in as someone else</a>')
  const login = await browser.open(`${start(origin)}?login`)
  t.match(login.url, `${baseUrl}/login?return_to=`)
  const other = await browser.submit(login.url, { user: 'bob' })
  t.match(other.text, 'Bob &lt;b&gt;Client&lt;/b&gt; is signed in')
  const trial = await browser.signIn(start(origin, 'ineligible-user'))
  t.match(trial.text, 'href="/external-oauth/local?trial=ineligible-user&amp;login">Log in as someone else</a>')
  const elsewhere = await simulator(t, {
    change: { options: { loginPage: () => 'https://login.partner.example/' } }
  })
  t.notMatch((await elsewhere.browser.signIn(start(elsewhere.origin))).text, 'Log in as someone else')
  t.match((await elsewhere.browser.signIn(`${start(elsewhere.origin)}?login`)).text, 'Ada Lovelace is signed in')
})

await t.test('no browser keeps a redirect: 302 to the service, 303 to the page of the sign-in', async (t) => {
  const opened = async ({ browser }: Simulator, url: string) => {
    const { status, headers } = await browser.fetch(url)
    return { status, location: headers.get('location') }
  }
  const scene = await simulator(t)
  t.match(await opened(scene, start(scene.origin)), { status: 302, location: `${scene.baseUrl}/oauth/authorize?` })
  const ended = { status: 303, location: /^\/sign-ins\/[\w-]{16}$/ }
  t.match(await opened(scene, `${scene.origin}/oauth/callback?error=access_denied`), ended)
  const absent = await simulator(t, { baseUrl: `http://127.0.0.1:${await freePort()}` })
  t.match(await opened(absent, start(absent.origin)), ended)
})

await t.test('exchanges as they went over the wire, with their times, after the user', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  const text = (await browser.signIn(start(origin))).text.replaceAll('&amp;', '&')
  const shown = [...text.matchAll(/<details id="step-(\d+)">\n<summary>([^<]*)</g)].map(([, ...row]) => row.join(' '))
  t.strictSame(shown, [
    '4 GET /oauth/authorize', '7 GET /oauth/callback', '9 POST /oauth/token', '12 POST /oauth/token → 200',
    '13 GET /oauth/user', '15 GET /oauth/user → 200'
  ], 'a request where it is sent, the response where it is returned')
  t.match(text, `<pre>GET ${baseUrl}/oauth/authorize\n  ?client_id=partner-123\n  &redirect_uri=`)
  t.match(text, `<pre>POST ${baseUrl}/oauth/token\nAccept: application/json\n`)
  t.match(text, /\n\nclient_id=partner-123\n&client_secret=••••••••\n&redirect_uri=/)
  t.match(text, /<h3>Response<\/h3><pre>200\ncontent-type: application\/json[^]*\n\n\{/)
  const times = [...text.matchAll(/<span class="took">([^<]*)</g)].map(([, time]) => String(time))
  const timed = times.flatMap((time, index) => /^ · \d+ ms$/.test(time) ? [index + 1] : [])
  t.strictSame([times.length, timed], [15, [12, 15]], 'the time at the login page is the person’s')
  const order = ['id="record"', 'id="steps"', 'id="trials"'].map((id) => text.indexOf(id))
  t.strictSame(order, [...order].sort((one, other) => one - other), 'for a narrow screen')
})

await t.test('the login page stands between: the timeline waits, then continues', async (t) => {
  const { origin, browser, baseUrl } = await simulator(t)
  browser.cookies.delete('sid')
  const login = await browser.open(start(origin))
  t.match(login.url, `${baseUrl}/login?return_to=`)
  const home = await browser.open(origin)
  const [, path = ''] = /chip wait">running<\/span>\s<div><a href="(\/sign-ins\/[\w-]+)">/.exec(home.text) ?? []
  const waiting = await browser.open(origin + path)
  t.match(waiting.text, 'Waiting for your service')
  t.match(waiting.text, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  t.match(waiting.text, 'The browser is at your service.')
  const page = await browser.submit(login.url, { user: 'ada' })
  t.equal(page.url, origin + path)
  t.match(page.text, 'Ada Lovelace is signed in')
})

await t.test('when something fails: which step, what was expected, what was got, what to do', async (t) => {
  const redirect = /a redirect to the redirect_uri with code and the same state/
  const cases: Array<[SceneOptions, number, expected: RegExp, got: RegExp, fix: RegExp]> = [
    [{ change: jsonAt('/oauth/user', { control_role: 'Boss' }) }, 15, /a record with/, /control_role/,
      /Correct the record/],
    [{ change: hookAt('/oauth/token', 401, { error: 'Unauthorized', message: 'Log in first' }) }, 9, /200 and JSON/,
      /401 with the error .*\(Log in first\)/, /Exempt this endpoint/],
    // Before the browser is sent there.
    [{ baseUrl: `http://127.0.0.1:${await freePort()}` }, 4, redirect, /Nothing listens at/, /Start the service/],
    [{ baseUrl: await responding(t, 404) }, 4, redirect, /404 with an empty body/, /Check the base URL/]
  ]
  for (const [options, step, ...said] of cases) {
    const { origin, browser } = await simulator(t, options)
    const { text } = await browser.signIn(start(origin))
    t.match(text, `<h1>The sign-in stopped at step ${step}</h1>`, `step ${step}`)
    for (const [at, fact] of ['Expected', 'Got', 'What to do'].entries()) {
      t.match(new RegExp(`<dt>${fact}</dt><dd>([^<]*)`).exec(text)?.[1], said[at], `step ${step}: ${fact}`)
    }
    const [, failed = ''] = text.split(`<li class="step failed" value="${step}">`)
    t.match(failed.split('</li>')[0], /<h3>(?:Response|No response)<\/h3>/, `step ${step}: with what was sent back`)
  }
})

await t.test('a long response is cut in the exchange', async (t) => {
  for (const [length, shown] of [[32_768, 'x'.repeat(32_768)], [32_769, `${'x'.repeat(31_744)}…`]] as const) {
    const { origin, browser } = await simulator(t, { baseUrl: await responding(t, 502, 'x'.repeat(length)) })
    t.match((await browser.signIn(start(origin))).text, `\n\n${shown}</pre>`, `${length} characters`)
  }
})

await t.test('a callback that lacks a part of the redirect_uri', async (t) => {
  const redirectUri = 'http://localhost:1/cb?tenant=7'
  const change = { options: { portal: { ...PORTAL, redirectUri } } }
  const { origin, browser } = await simulator(t, { change, flags: ['--redirect-uri', redirectUri] })
  browser.cookies.delete('sid')
  await browser.fetch(start(origin))
  const again = await browser.open(`${origin}/cb?code=x&state=y`)
  t.match(again.text, 'The sign-in stopped at step 7')
  t.match(again.text, 'a redirect to http://localhost:1/cb')
})

await t.test('a callback that is loaded again while the sign-in is in progress sends no second code', async (t) => {
  const held: ServerResponse[] = []
  const baseUrl = await sendingBack(t, (_path, response) => held.push(response))
  const { origin, browser } = await simulator(t, { baseUrl })
  const redirected = async (url: string) => String((await browser.fetch(url)).headers.get('location'))
  const callback = await redirected(await redirected(start(origin)))
  const page = await browser.open(callback)
  t.match(page.text, '<h1>In progress</h1>')
  t.equal((await browser.open(callback)).url, page.url)
  t.equal(held.length, 1)
  for (const response of held) respond(response, 500, {})
  await browser.ended(page)
})

await t.test('at the client level', async (t) => {
  const { origin, browser } = await simulator(t, { flags: ['--level', 'client'], user: 'bob' })
  t.match((await browser.signIn(start(origin))).text, 'A client user, at the client OAuth level.')
})

await t.test('a return without a session, a second return, and a start under another host name', async (t) => {
  const { origin, browser, another } = await simulator(t)
  const lost = await another().open(`${origin}/oauth/callback?code=x&state=y`)
  t.equal(lost.status, 400)
  t.match(lost.text, 'This browser has no sign-in in progress')
  const page = await browser.signIn(start(origin))
  t.equal((await browser.open(`${origin}/oauth/callback?code=x&state=y`)).url, page.url)
  t.match((await browser.open(page.url)).text, 'Ada Lovelace is signed in')
  for (const path of ['/external-oauth/local', '/', '/sign-ins/none?x=1']) {
    const other = await fetch(origin.replace('127.0.0.1', 'localhost') + path, { redirect: 'manual' })
    t.equal(other.headers.get('location'), origin + path, `one host name, so that the cookie is sent: ${path}`)
  }
  const foreign = await fetch(`${origin.replace('127.0.0.1', 'localhost')}//evil.example/`, { redirect: 'manual' })
  t.equal(new URL(String(foreign.headers.get('location'))).origin, origin, 'and no redirect to another site')
})
