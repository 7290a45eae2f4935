// What the page says while a browser is at the service, or while a code expires.
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { Test } from 'tap'
import { rulesOf } from '../../../lib/check/run.ts'
import { SCRIPT } from '../../../lib/simulator/serve/pages/script.ts'
import { LOGIN_RULES } from '../../../lib/simulator/serve/trials.ts'
import type { Change } from '../../helpers/partner.ts'
import type { SceneOptions, Simulator } from '../../helpers/serve.ts'
import { simulator, start } from '../../helpers/serve.ts'

/** A browser that is not logged in has begun a sign-in: the page that it finds at the simulator meanwhile. */
async function waiting (t: Test, options: SceneOptions): Promise<Simulator & { page: () => Promise<string> }> {
  const scene = await simulator(t, options)
  const { browser, origin } = scene
  browser.cookies.delete('sid')
  await browser.fetch(start(origin))
  const [path = ''] = /\/sign-ins\/[\w-]+/.exec((await browser.open(origin)).text) ?? []
  return { ...scene, page: async () => (await browser.open(origin + path)).text }
}

await t.test('the rules on the login are shown until the browser comes back', async (t) => {
  const { browser, origin, page } = await waiting(t, {})
  const text = await page()
  t.match(text, 'Take your time if you are logging in.')
  for (const { sentence } of LOGIN_RULES) t.match(text, `<h3>${sentence} <span class="chip`, sentence)
  t.notMatch(text, '<span class="chip bad">', 'a correct service: no rule fails')
  await browser.signIn(`${origin}/oauth/callback?error=access_denied`)
  t.notMatch(await page(), 'id="causes"')
})

const loginPage = (status: number, headers: Record<string, string>): Change => ({
  loginPage: (_request, reply) => reply.code(status).headers({
    'content-type': 'text/html', 'content-security-policy': 'frame-ancestors \'none\'', ...headers
  }).send('<form method=post>')
})

const SEEN: Array<[name: string, rule: string, got: RegExp, options: SceneOptions]> = [
  ['a login page that is not there', 'login.page', /404 with text.* at \/login/, { change: loginPage(404, {}) }],
  ['form-action', 'login.form-action', /form-action &#39;self&#39;/i,
    { change: loginPage(200, { 'content-security-policy': 'form-action \'self\'' }) }],
  ['a Strict cookie', 'login.cookie', /SameSite=Strict/i,
    { change: loginPage(200, { 'set-cookie': 'session=1; Path=/; SameSite=Strict' }) }],
  ['a redirect loop', 'login.page', /redirects that do not end/i,
    { change: { options: { loginPage: (returnTo) => returnTo } } }]
]

for (const [name, rule, got, options] of SEEN) {
  await t.test(`a rule that fails says what was got: ${name}`, async (t) => {
    const { page } = await waiting(t, options)
    const [, list = ''] = /id="causes">[^]*?<ul>([^]*?)<\/ul>/.exec(await page()) ?? []
    const failed = list.split('<li>').filter((item) => /<span class="chip (?:bad">fails|wait">advice)</.test(item))
    t.equal(failed.length, 1, 'and nothing else is accused')
    t.match(failed[0], `<h3>${rulesOf([rule])[0]?.sentence} `)
    t.match(failed[0], got)
    t.match(failed[0], '<b>What to do:</b>')
  })
}

await t.test('another sign-in of the browser explains one that does not come back', async (t) => {
  const { browser, origin } = await simulator(t)
  const begun = async (): Promise<string> => {
    const login = await browser.fetch(start(origin))
    const [path = ''] = /\/sign-ins\/[\w-]+/.exec((await browser.open(origin)).text) ?? []
    t.equal(login.status, 302)
    return origin + path
  }
  const strict = /This browser has signed in before\..* most often because it is SameSite=Strict: /
  const blocked = /did not lead back here\. Either .* has a form-action without the portal’s origin/
  const sid = String(browser.cookies.get('sid'))
  browser.cookies.delete('sid')
  const first = await begun()
  const alone = await browser.open(first)
  t.match(alone.text, 'id="causes"')
  t.notMatch(alone.text, strict)
  t.notMatch(alone.text, blocked)
  browser.cookies.set('sid', sid)
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, 'is signed in')
  t.notMatch(signedIn.text, strict)
  t.match((await browser.open(first)).text, blocked)
  browser.cookies.delete('sid')
  const second = await browser.open(await begun())
  t.match(second.text, strict)
  t.notMatch(second.text, blocked)
})

await t.test('where portal and service are one site, no cookie is called Strict', async (t) => {
  const { browser, origin } = await simulator(t, { host: '127.0.0.1' })
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, 'your service and this portal are one site')
  t.notMatch(signedIn.text, 'makes the second sign-in ask')
  browser.cookies.delete('sid')
  await browser.fetch(start(origin))
  const [path] = /\/sign-ins\/[\w-]+/.exec((await browser.open(origin)).text) ?? []
  t.notMatch((await browser.open(`${origin}${path}`)).text, 'This browser has signed in before')
})

await t.test('the trial of an expired code says when the code is sent', async (t) => {
  const { browser, origin, another } = await simulator(t, { flags: ['--code-lifetime', '30'] })
  const began = Date.now()
  const page = await browser.open(start(origin, 'expired-code'))
  t.match(page.text, '<h1>Waiting until the code has expired</h1>')
  const [, time = ''] = /<p>The code is sent at ([\d:]{8})\.<\/p>/.exec(page.text) ?? []
  const seconds = Math.ceil((Date.now() - began) / 1000) + 1
  const possible = Array.from({ length: seconds + 1 }, (_none, at) => new Date(began + (31 + at) * 1000).toTimeString())
  t.ok(possible.some((text) => text.startsWith(time)), time)
  t.equal((await another().open(`${origin}/oauth/callback?code=x&state=y`)).status, 400)
  t.equal((await browser.open(page.url)).text, page.text, 'the return of another browser changes nothing')
})

await t.test('the script reloads a page that has changed, and one that ended before the first look', async (t) => {
  const page = `<script>${SCRIPT}</script>`
  for (const texts of [
    ['ended'], [page, 'ended'], [page, page, `${page} and more`], [null, 'ended'], [null, page, null, page, 'ended']
  ]) {
    const rest = [...texts]
    const reloaded = await new Promise<boolean>((resolve) => {
      runInNewContext(SCRIPT, {
        document: { currentScript: { text: SCRIPT } },
        fetch: async () => {
          const text = rest.shift()
          if (text === null) throw new TypeError('Failed to fetch')
          return new Response(text)
        },
        location: { reload: () => resolve(rest.length === 0) },
        setTimeout: (look: () => void) => rest.length === 0 ? resolve(false) : look()
      })
    })
    t.equal(reloaded, true, `at look ${texts.length}`)
  }
})
