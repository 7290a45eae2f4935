// The whole sign-in in a real browser, through the example and the portal simulator; and the page of the plugin for a
// person whose sign-in cannot go back to the portal: nothing loads, nothing executes.
import t from 'tap'
import { startScene } from '../helpers/browser-scene.ts'
import { again, arrives, enter, goToLogin, heading, logIn, logInAt, outcome, reported, tabTo } from '../helpers/walk.ts'

const { partner, portal, calls, visit } = await startScene(t)
const ONE_SIGN_IN = ['POST /oauth/token 200', 'GET /oauth/user 200']

await visit('logged in already: one click, no second password', async (t, { page, requests }) => {
  await logInAt(partner, page, 'Ada Okafor')
  requests.length = 0
  await page.getByRole('link', { name: 'Open the dispute portal' }).click()
  t.equal(await outcome(page), 'Ada Okafor is signed in')
  const record = await page.locator('#record').locator('..').innerText()
  t.match(record, /ada@partner\.example[^]*Partner Administrator[^]*Product Operator/)
  t.equal(await page.locator('.step.done').count(), 15)
  t.strictSame(calls, ONE_SIGN_IN)
  t.notMatch(page.url(), /code=|state=/, 'no address in the history has the code or the state')
  const { searchParams } = new URL(requests.find((url) => url.startsWith(`${portal}/oauth/callback?`)) as string)
  t.notOk((await page.content()).includes(searchParams.get('code') as string), 'no secret stands on the page')
  const own = new URL(page.url()).pathname
  const paths = requests.map((url) => new URL(url).pathname)
  const once = paths.filter((path, at) => path !== own || paths.indexOf(path) === at)
  t.strictSame(once, ['/external-oauth/demo', '/oauth/authorize', '/oauth/callback', own],
    'and the page of a sign-in that is in progress asks for itself again')
})

await visit('not logged in: the login page, then back to the portal', async (t, { page }) => {
  await goToLogin(t, page, portal)
  t.strictSame(calls, [])
  await logIn(page, 'Carmen Ruiz')
  t.equal(await outcome(page), 'Carmen Ruiz is signed in')
  const record = await page.locator('#record').locator('..').innerText()
  t.match(record, /A client user[^]*client_external_id\s+m-77[^]*Client Read Only/)
  t.strictSame(calls, ONE_SIGN_IN)
  t.equal(await again(page), 'Carmen Ruiz is signed in', 'the second time without the login page')
})

await visit('the back button after the sign-in', async (t, { page }) => {
  await goToLogin(t, page, portal)
  await logIn(page, 'Bo Lindqvist')
  await outcome(page)
  const signedIn = page.url()

  await page.goBack()
  await arrives(t, page, 'Log in to Acme Payments')
  await logIn(page, 'Bo Lindqvist')
  t.equal(await outcome(page), 'Bo Lindqvist is signed in')
  t.equal(page.url(), signedIn, 'the sign-in is over and stays as it is')
  t.strictSame(calls, ONE_SIGN_IN)

  await page.goBack()
  await page.goBack()
  await page.waitForURL(`${portal}/`)
  await arrives(t, page, 'Sign in to the portal')
  await page.goForward()
  await arrives(t, page, 'Log in to Acme Payments')
})

await visit('the callback once more, then in another browser', async (t, { context, page, requests, problems }) => {
  await enter(partner, page, 'Ada Okafor')
  const signedIn = page.url()
  const callback = requests.find((url) => url.startsWith(`${portal}/oauth/callback?`)) as string
  t.match(callback, /[?&]code=[^&]+/)
  for (const [name, again] of Object.entries({
    reload: () => page.reload(), callback: () => page.goto(callback), 'reload again': () => page.reload()
  })) {
    await again()
    t.equal(await outcome(page), 'Ada Okafor is signed in', name)
    t.equal(page.url(), signedIn, name)
  }
  // Without the cookies it is another browser.
  await context.clearCookies()
  await page.goto(callback)
  t.equal(await heading(page), 'This browser has no sign-in in progress')
  t.strictSame(calls, ONE_SIGN_IN, 'nothing is redeemed twice')
  t.match(await reported(problems), [/status of 400/], 'as its status says')
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await arrives(t, page, 'Log in to Acme Payments')
})

await visit('somebody else, though the browser has a session', async (t, { page }) => {
  t.equal(await enter(partner, page, 'Ada Okafor'), 'Ada Okafor is signed in')
  await page.getByRole('link', { name: 'Log in as someone else' }).click()
  await arrives(t, page, 'Log in to Acme Payments')
  await logIn(page, 'Bo Lindqvist')
  t.equal(await outcome(page), 'Bo Lindqvist is signed in')
})

await visit('another site’s images begin no sign-in', async (t, { page, problems }) => {
  await page.goto(partner)
  await page.evaluate(async (url) => {
    const images = Array.from({ length: 5 }, () => new Image())
    await Promise.all(images.map((image) => new Promise((resolve) => {
      image.onerror = resolve
      image.src = url
    })))
  }, `${portal}/external-oauth/demo`)
  t.equal((await reported(problems, 5)).length, 5)
  await page.goto(portal)
  t.equal(await page.getByRole('heading', { name: 'Sign-ins of this browser' }).count(), 0)
})

await visit('two tabs at once', async (t, { context, page }) => {
  const other = await context.newPage()
  for (const tab of [page, other]) await goToLogin(t, tab, portal)
  await logIn(page, 'Ada Okafor')
  t.equal(await outcome(page), 'Ada Okafor is signed in')
  await logIn(other, 'Bo Lindqvist')
  t.equal(await outcome(other), 'Bo Lindqvist is signed in')
  t.not(page.url(), other.url())
  t.strictSame(calls, [...ONE_SIGN_IN, ...ONE_SIGN_IN])
  await page.reload()
  t.equal(await heading(page), 'Ada Okafor is signed in', 'the first tab is still its own')

  const both = await Promise.all([page, other].map((tab) => again(tab)))
  t.strictSame(both, ['Bo Lindqvist is signed in', 'Bo Lindqvist is signed in'], 'one browser is one user')
  t.equal(calls.length, 8)
})

await visit('a user who may not enter', async (t, { page }) => {
  t.equal(await enter(partner, page, 'Dev Patel'), 'The sign-in stopped at step 5')
  t.match(await page.locator('#problem').locator('..').innerText(), /access_denied[^]*What to do/)
  t.equal(await page.locator('.step.failed').count(), 1)
  t.equal(await page.locator('#record').count(), 0)
  await page.getByRole('link', { name: 'Try: User not eligible' }).click()
  await page.getByRole('heading', { name: 'Rejected, as it should be' }).waitFor()
  t.equal(await page.locator('.step.failed').count(), 0, 'what was asked for is no failure')
  t.strictSame(calls, [], 'the portal’s server had nothing to ask')
})

await visit('without JavaScript', async (t, { page }) => {
  await goToLogin(t, page, portal)
  await logIn(page, 'Ada Okafor')
  t.equal(await outcome(page), 'Ada Okafor is signed in')
  await page.locator('#step-12 summary').click()
  t.ok(await page.locator('#step-12 .wire').isVisible(), 'what was sent and came back opens')
  await page.getByRole('link', { name: 'Try: Wrong secret' }).click()
  await page.getByRole('heading', { name: 'Rejected, as it should be' }).waitFor()
}, { javaScriptEnabled: false })

await visit('by keyboard alone', async (t, { page }) => {
  await page.goto(portal)
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to the content' })
  t.ok((await skip.boundingBox())?.x as number > 0, 'the first stop shows itself')
  await page.keyboard.press('Enter')
  t.equal(await tabTo(page, 'Sign in'), 1, 'and leads to the main action')
  t.not(await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle), 'none')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${partner}/login?return_to=*`)
  t.equal(await tabTo(page, 'Ada Okafor'), 1)
  t.not(await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle), 'none')
  await page.keyboard.press('Enter')
  t.equal(await outcome(page), 'Ada Okafor is signed in')
  t.ok(await tabTo(page, 'Sign in again') <= 3)
  t.equal(await again(page, () => page.keyboard.press('Enter')), 'Ada Okafor is signed in')
})

const SCRIPT = '"><script>document.title = "executed"</script><img src=x onerror="document.title = \'executed\'">'
const authorize = (changes: Record<string, string>) => `${partner}/oauth/authorize?${new URLSearchParams({
  client_id: 'acme-payments',
  redirect_uri: `${portal}/oauth/callback`,
  response_type: 'code',
  state: 'a-state',
  ...changes
})}`

await visit('the error page', async (t, { page, requests, problems }) => {
  for (const changes of [
    { redirect_uri: 'https://foreign.example/callback' },
    { redirect_uri: 'javascript:document.title="executed"' },
    { client_id: SCRIPT, redirect_uri: SCRIPT, state: SCRIPT, scope: SCRIPT, response_type: SCRIPT },
    { client_id: 'somebody' }
  ]) {
    const url = authorize(changes)
    const response = await page.goto(url)
    t.equal(response?.status(), 400, url)
    t.equal(await heading(page), 'This sign-in cannot go on', url)
    t.equal(await page.title(), 'Sign-in not possible', url)
    t.strictSame(requests.splice(0), [url], `the page is the only thing that was asked for: ${url}`)
    t.equal(await page.locator('script, img, iframe, form, link').count(), 0, url)
    const background = await page.getByRole('link').evaluate((link) => getComputedStyle(link).backgroundColor)
    t.not(background, 'rgba(0, 0, 0, 0)', `its own style is allowed: ${url}`)
    t.match(await reported(problems), [/status of 400/], url)
  }
})

await visit('even what gets into the page does not run, and does not load', async (t, { page, problems }) => {
  await page.goto(authorize({ client_id: 'somebody' }))
  t.match(await reported(problems), [/status of 400/])
  const loaded: string[] = []
  page.on('requestfinished', (request) => loaded.push(request.url()))
  const blocked = await page.evaluate(async () => {
    const found: string[] = []
    const all = new Promise<void>((resolve) => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        if (found.push(effectiveDirective) === 5) resolve()
      })
    })
    const script = document.createElement('script')
    script.textContent = 'document.title = "executed"'
    document.body.append(script)
    document.body.insertAdjacentHTML('beforeend', '<img src="/a.png"><style>h1 { display: none }</style>' +
      '<iframe src="/b"></iframe><p onclick="document.title = \'executed\'">')
    document.querySelector<HTMLElement>('p[onclick]')?.click()
    await all
    return found.sort()
  })
  t.strictSame(blocked, ['frame-src', 'img-src', 'script-src-attr', 'script-src-elem', 'style-src-elem'])
  t.equal(await page.title(), 'Sign-in not possible')
  t.strictSame(loaded, [])
  t.ok(await page.locator('h1').isVisible())
  const said = await reported(problems, 5)
  t.ok(said.length > 0 && said.every((problem) => problem.includes('Content Security Policy')), said.join())
})

await visit('the error page by keyboard, and a new start', async (t, { page, problems }) => {
  await page.goto(authorize({ client_id: 'somebody' }))
  t.match(await reported(problems), [/status of 400/])
  t.equal(await tabTo(page, 'Start again'), 1, 'the first stop')
  await page.keyboard.press('Enter')
  await arrives(t, page, 'Log in to Acme Payments')
  await logIn(page, 'Ada Okafor')
  t.equal(await outcome(page), 'Ada Okafor is signed in')
})
