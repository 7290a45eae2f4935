// The whole sign-in in a real browser, through the example and the portal simulator; and the page of the plugin for a
// person whose sign-in cannot go back to the portal: nothing loads, nothing executes.
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { startScene } from './scene.ts'
import { again, arrives, heading, logIn, outcome, reported } from './walk.ts'

/** Begins a sign-in at the portal, which leads to the partner's login page. */
async function goToLogin (t: Test, page: Page, portal: string): Promise<void> {
  await page.goto(portal)
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/login?return_to=*')
  await arrives(t, page, 'Log in to Acme Payments')
}

/** Presses Tab until the named element has the focus; returns how often. */
async function tabTo (page: Page, name: string, most = 8): Promise<number> {
  for (let times = 1; times <= most; times++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => (document.activeElement as HTMLElement).innerText)
    if (focused.startsWith(name)) return times
  }
  throw new Error(`${most} times Tab do not reach ${name}`)
}

const SCRIPT = '"><script>document.title = "executed"</script><img src=x onerror="document.title = \'executed\'">'

t.test('sign-in', async (t) => {
  const { partner, portal, calls, visit } = await startScene(t)

  visit('logged in already: one click; no address in the history, and no page, has the code', async (t, visit) => {
    const { page, requests } = visit
    await page.goto(`${partner}/login`)
    await logIn(page, 'Ada Okafor')
    await page.getByRole('link', { name: 'Open the dispute portal' }).click()
    t.equal(await outcome(page), 'Ada Okafor is signed in')
    t.strictSame(calls, ['POST /oauth/token 200', 'GET /oauth/user 200'])
    t.notMatch(page.url(), /code=|state=/)
    const callback = requests.find((url) => url.startsWith(`${portal}/oauth/callback?`))
    const { searchParams } = new URL(String(callback))
    const content = await page.content()
    t.notOk(content.includes(String(searchParams.get('code'))))
  })

  visit('without JavaScript', async (t, { page }) => {
    await goToLogin(t, page, portal)
    await logIn(page, 'Ada Okafor')
    t.equal(await outcome(page), 'Ada Okafor is signed in')
    await page.locator('#step-12 summary').click()
    t.ok(await page.locator('#step-12 .wire').isVisible(), 'what was sent and came back opens')
  }, { javaScriptEnabled: false })

  visit('by keyboard alone', async (t, { page }) => {
    await page.goto(portal)
    await page.keyboard.press('Tab')
    const skip = page.getByRole('link', { name: 'Skip to the content' })
    const box = await skip.boundingBox()
    t.ok(Number(box?.x) > 0, 'the first stop shows itself')
    await page.keyboard.press('Enter')
    t.equal(await tabTo(page, 'Sign in'), 1, 'and leads to the main action')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${partner}/login?return_to=*`)
    t.equal(await tabTo(page, 'Ada Okafor'), 1)
    const outline = await page.evaluate(() =>
      getComputedStyle(document.activeElement as Element).outlineStyle)
    t.not(outline, 'none')
    await page.keyboard.press('Enter')
    t.equal(await outcome(page), 'Ada Okafor is signed in')
    await tabTo(page, 'Skip to the content', 1)
    await page.keyboard.press('Enter')
    t.equal(await tabTo(page, 'Sign in again'), 1, 'two stops from the top')
    t.equal(await again(page, () => page.keyboard.press('Enter')), 'Ada Okafor is signed in')
  })

  visit('the error page loads and executes nothing, and leads to a new start', async (t, visit) => {
    const { page, requests, problems } = visit
    const query = new URLSearchParams({ client_id: SCRIPT, redirect_uri: SCRIPT })
    const url = `${partner}/oauth/authorize?${query}`
    await page.goto(url)
    t.equal(await heading(page), 'This sign-in cannot continue')
    t.strictSame(requests.splice(0), [url], 'the page is the only thing that was asked for')
    const link = page.getByRole('link')
    const background = await link.evaluate((link) => getComputedStyle(link).backgroundColor)
    t.not(background, 'rgba(0, 0, 0, 0)', 'its own style is allowed')
    await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'document.title = "executed"'
      document.body.append(script)
      document.body.insertAdjacentHTML('beforeend', '<img src="/a.png"><style>h1 { display: none }</style>' +
        '<iframe src="/b"></iframe><p onclick="document.title = \'executed\'">')
      document.querySelector<HTMLElement>('p[onclick]')?.click()
    })
    // The status, and what the policy has blocked: script, style, image, frame, handler.
    const said = await reported(problems, 6)
    const blocked = said.filter((problem) => problem.includes('Content Security Policy'))
    t.equal(blocked.length, 5, said.join())
    t.equal(await page.title(), 'Sign-in not possible')
    t.ok(await page.locator('h1').isVisible())
    t.equal(await tabTo(page, 'Start again'), 1, 'the first stop')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${partner}/login?return_to=*`)
    t.ok(requests.includes(`${portal}/external-oauth/local`))
  })
})
