// What the page says while a browser is at the service, or while a code expires.
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { rulesOf } from '../../../lib/check/run.ts'
import { SCRIPT } from '../../../lib/simulator/serve/pages/script.ts'
import { LOGIN_RULES } from '../../../lib/simulator/serve/trials.ts'
import type { Change } from '../../helpers/partner.ts'
import { logIn, simulator, start } from '../../helpers/serve.ts'
import type { Simulator } from '../../helpers/serve.ts'

/** A browser that is not logged in begins a sign-in: the address of its page at the simulator. */
async function begun ({ browser, origin }: Simulator): Promise<string> {
  browser.cookies.delete('sid')
  await browser.fetch(start(origin))
  const [path = ''] = /\/sign-ins\/[\w-]+/.exec((await browser.open(origin)).text) ?? []
  return origin + path
}

t.test('the rules on the login are shown until the browser comes back', async (t) => {
  const scene = await simulator(t)
  const { browser, origin } = scene
  const url = await begun(scene)
  const { text } = await browser.open(url)
  t.match(text, 'Take your time if you are logging in.')
  for (const { sentence } of LOGIN_RULES) t.match(text, `<h3>${sentence} <span class="chip`, sentence)
  t.notMatch(text, '<span class="chip bad">', 'a correct service: no rule fails')
  t.equal((await browser.fetch(`${origin}/oauth/callback?error=access_denied`)).status, 303)
  t.notMatch((await browser.open(url)).text, 'id="causes"')
})

const loginPage = (headers: Record<string, string>): Change => ({
  loginPage: (_request, reply) => reply
    .headers({ 'content-type': 'text/html', 'content-security-policy': 'frame-ancestors \'none\'', ...headers })
    .send('<form method=post>')
})

for (const [rule, got, change] of [
  ['login.form-action', /form-action &#39;self&#39;/i,
    loginPage({ 'content-security-policy': 'form-action \'self\'; frame-ancestors \'none\'' })],
  ['login.cookie', /SameSite=Strict/i, loginPage({ 'set-cookie': 'session=1; Path=/; SameSite=Strict' })]
] as const) {
  t.test(`a rule that fails says what was got: ${rule}`, async (t) => {
    const scene = await simulator(t, { change })
    const { text } = await scene.browser.open(await begun(scene))
    const [, list = ''] = /id="causes">[^]*?<ul>([^]*?)<\/ul>/.exec(text) ?? []
    const failed = list.split('<li>').filter((item) => /<span class="chip (?:bad">fails|wait">advice)</.test(item))
    t.equal(failed.length, 1, 'and nothing else is accused')
    t.match(failed[0], `<h3>${rulesOf([rule])[0]?.sentence} `)
    t.match(failed[0], got)
    t.match(failed[0], '<b>What to do:</b>')
  })
}

const STRICT = /This browser has signed in before\..* most often because it is SameSite=Strict: /
const BLOCKED = /did not lead back here\. Either .* has a form-action without the portal’s origin/

t.test('another sign-in of the browser explains one that does not come back', async (t) => {
  const scene = await simulator(t)
  const { browser, origin } = scene
  const hints = async (url: string): Promise<boolean[]> => {
    const { text } = await browser.open(url)
    return [STRICT, BLOCKED].map((hint) => hint.test(text))
  }
  const first = await begun(scene)
  t.strictSame(await hints(first), [false, false])
  logIn(browser, 'ada')
  await browser.signIn(start(origin))
  t.strictSame(await hints(first), [false, true])
  t.strictSame(await hints(await begun(scene)), [true, false])
})

t.test('where portal and service are one site, no cookie is called Strict', async (t) => {
  const scene = await simulator(t, { host: '127.0.0.1' })
  const { browser, origin } = scene
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, 'your service and this portal are one site')
  t.notMatch(signedIn.text, 'makes the second sign-in ask')
  t.notMatch((await browser.open(await begun(scene))).text, STRICT)
})

t.test('the trial of an expired code says when the code is sent', async (t) => {
  const { browser, origin } = await simulator(t, { flags: ['--code-lifetime', '30'] })
  const earliest = new Date(Date.now() + 31_000).toTimeString().slice(0, 8)
  const page = await browser.open(start(origin, 'expired-code'))
  t.match(page.text, '<h1>Waiting until the code has expired</h1>')
  const [, time = ''] = /<p>The code is sent at ([\d:]{8})\.<\/p>/.exec(page.text) ?? []
  const latest = new Date(Date.now() + 32_000).toTimeString().slice(0, 8)
  t.ok(earliest > latest || (earliest <= time && time <= latest), `${earliest} ${time} ${latest}`)
})

t.test('the script reloads a page that has changed, and one that ended before the first look', async (t) => {
  const page = `<script>${SCRIPT}</script>`
  for (const texts of [
    ['ended'], [page, page, 'ended'], [page, page, `${page} and more`], [null, page, null, page, 'ended']
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
