// What the page says while a browser is at the service, and how it continues.
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { byId } from '../../../lib/check/run.ts'
import { SCRIPT } from '../../../lib/simulator/serve/pages/script.ts'
import { LOGIN_RULES } from '../../../lib/simulator/serve/attempt.ts'
import type { Change } from '../../app.ts'
import { logIn, redirected, simulator, start } from './scene.ts'
import type { Simulator } from './scene.ts'

/** A browser that is not logged in begins a sign-in: the address of its page at the simulator. */
async function begun ({ browser, origin }: Simulator): Promise<string> {
  browser.cookies.delete('sid')
  await browser.fetch(start(origin))
  const [path = ''] = /\/sign-ins\/[\w-]+/.exec((await browser.open(origin)).text) ?? []
  return origin + path
}

t.test('the rules on the login are tried once, and shown until the browser comes back', async (t) => {
  let requests = 0
  const scene = await simulator(t, {
    change: { prepare: (app) => app.addHook('onRequest', async () => { requests++ }) }
  })
  const { browser, origin } = scene
  const url = await begun(scene)
  const { text } = await browser.open(url)
  t.match(text, 'Take your time if you are logging in.')
  for (const { sentence } of LOGIN_RULES) t.match(text, `<h3>${sentence} <span class="chip`, sentence)
  t.notMatch(text, '<span class="chip fail">', 'a correct service: no rule fails')
  const before = requests
  await browser.open(url)
  t.equal(requests, before)
  t.equal(origin + await redirected(browser, `${origin}/oauth/callback?error=access_denied`), url)
  t.notMatch((await browser.open(url)).text, 'id="causes"')
})

t.test('a page that waits for a slow service asks for itself again, until the sign-in has ended', async (t) => {
  let goOn = (): void => {}
  const isSlow = new Promise<void>((resolve) => { goOn = resolve })
  const slow: Change = {
    prepare: (app) => app.addHook('onRequest', async ({ url }) => { if (url === '/oauth/token') await isSlow })
  }
  const { browser, origin } = await simulator(t, { change: slow })
  const page = await browser.open(start(origin))
  t.match(page.text, '<noscript><meta http-equiv="refresh" content="2"></noscript>')
  goOn()
  t.match((await browser.ended(page)).text, 'Ada Lovelace is signed in')
})

const loginPage = (headers: Record<string, string>): Change => ({
  loginPage: (_request, reply) => reply
    .headers({ 'content-type': 'text/html', 'content-security-policy': 'frame-ancestors \'none\'', ...headers })
    .send('<form method=post>')
})

const BLOCKING = loginPage({
  'content-security-policy': 'form-action \'self\'; frame-ancestors \'none\''
})

t.test('a rule that fails says what was got', async (t) => {
  const scene = await simulator(t, { change: BLOCKING })
  const { text } = await scene.browser.open(await begun(scene))
  const [, list = ''] = /id="causes">[^]*?<ul>([^]*?)<\/ul>/.exec(text) ?? []
  const failed = list.split('<li>').filter((item) => /<span class="chip (?:fail|advice)">/.test(item))
  t.equal(failed.length, 1, 'and nothing else is accused')
  t.match(failed[0], `<h3>${byId('login.form-action').sentence} `)
  t.match(failed[0], /form-action &#39;self&#39;/i)
  t.match(failed[0], '<dt>What to do</dt>')
})

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
  const second = await begun(scene)
  t.strictSame(await hints(second), [true, false])
  logIn(browser, 'ada')
  await browser.signIn(start(origin))
  t.strictSame(await hints(second), [false, true], 'the newest of the others counts')
})

t.test('where portal and service are one site, no cookie is called Strict', async (t) => {
  const scene = await simulator(t, { host: '127.0.0.1' })
  const { browser, origin } = scene
  const signedIn = await browser.signIn(start(origin))
  t.match(signedIn.text, 'your service and this portal are one site')
  t.notMatch(signedIn.text, 'Now press Sign in again')
  t.notMatch((await browser.open(await begun(scene))).text, STRICT)
})

/** Runs the script on these responses, one a look; null: no response. Whether it reloads the page at the last. */
const reloads = async (responses: Array<string | null>): Promise<boolean> => await new Promise((resolve) => {
  const rest = [...responses]
  runInNewContext(SCRIPT, {
    document: { currentScript: { text: SCRIPT } },
    async fetch () {
      const text = rest.shift()
      if (text === null) throw new TypeError('Failed to fetch')
      return new Response(text)
    },
    location: { reload: () => resolve(rest.length === 0) },
    setTimeout: (look: () => void) => rest.length === 0 ? resolve(false) : look()
  })
})

t.test('the script reloads a page that has changed, and one that ended before the first look', async (t) => {
  const page = `<script>${SCRIPT}</script>`
  for (const responses of [
    ['ended'],
    [page, page, 'ended'],
    [page, page, `${page} and more`],
    [null, page, null, page, 'ended']
  ]) t.equal(await reloads(responses), true, `at look ${responses.length}`)
})
