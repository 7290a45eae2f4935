// What people see: every main page, light and dark, wide and narrow, and what axe says of each. The pictures go to
// screenshots/. Those of the README are taken with UPDATE_SCREENSHOTS=1 only.
import { mkdirSync, readFileSync } from 'node:fs'
import type { AxeResults } from 'axe-core'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { startScene } from './helpers/scene.ts'
import { again, arrives, heading, logIn, logInAt, outcome, reported } from './helpers/walk.ts'

const update = process.env.UPDATE_SCREENSHOTS === '1'
const folder = fileURLToPath(new URL('screenshots/', import.meta.url))
const images = fileURLToPath(new URL('../../.github/images/', import.meta.url))
const { partner, portal, visit } = await startScene(t, {
  ...(update ? { ports: [3000, 3001] } : {}),
  flags: ['--code-lifetime', '6']
})

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Takes a picture of the page. False where the page is wider than the window, or axe finds a violation in it. */
async function picture (page: Page, name: string, readme?: string): Promise<boolean> {
  await page.screenshot({ path: `${folder}${name}.png`, fullPage: true, animations: 'disabled' })
  if (update && readme !== undefined) {
    mkdirSync(images, { recursive: true })
    await page.screenshot({ path: `${images}${readme}.png`, animations: 'disabled' })
  }
  await page.evaluate(axe)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  for (const { id, nodes } of violations) t.comment(name, id, nodes.map(({ target }) => target))
  const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
  return fits && violations.length === 0
}

const top = async (locator: Locator): Promise<number> => (await locator.boundingBox())?.y as number

const LOOKS = [['light', 1100], ['dark', 390], ['dark', 1100], ['light', 390]] as const

// Each colour and each width once; all four where pictures are taken anew.
for (const [colorScheme, width] of update ? LOOKS : LOOKS.slice(0, 2)) {
  const suffix = `${colorScheme}-${width}`
  const readme = (name: string): string | undefined => {
    if (width !== 1100) return undefined
    return colorScheme === 'light' ? name : `${name}-dark`
  }
  await visit(`the pages, ${colorScheme}, ${width} pixels wide`, async (t, { page, problems }) => {
    await page.goto(portal)
    t.ok(await picture(page, `start-${suffix}`))
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    await arrives(t, page, 'Log in to Acme Payments')
    t.ok(await picture(page, `login-${suffix}`))
    await logIn(page, 'Ada Okafor')
    t.equal(await outcome(page), 'Ada Okafor is signed in')
    t.equal(await again(page), 'Ada Okafor is signed in', 'again, now that everything is warm')
    t.ok(await picture(page, `timeline-${suffix}`, readme('timeline')))
    const [user, steps] = [await top(page.locator('#record')), await top(page.locator('#steps'))]
    if (width === 390) t.ok(user < steps, 'the user comes before the fifteen steps')
    else t.equal(Math.abs(user - steps) < 40, true, 'the user stands beside the fifteen steps')
    await page.locator('#step-12 summary').click()
    t.ok(await picture(page, `exchange-${suffix}`))
    await page.goto(partner)
    t.ok(await picture(page, `home-${suffix}`))
    const logOut = page.getByRole('button', { name: 'Log out' })
    t.ok(Number((await logOut.boundingBox())?.height) < 48, 'the button has one line')
    await logOut.click()
    await logIn(page, 'Dev Patel')
    await page.getByRole('link', { name: 'Open the dispute portal' }).click()
    t.equal(await outcome(page), 'The sign-in stopped at step 5')
    t.ok(await picture(page, `refused-${suffix}`))
    await page.getByRole('link', { name: 'Try: Foreign redirect_uri' }).click()
    await page.getByRole('heading', { name: 'Rejected, as it should be' }).waitFor()
    t.ok(await picture(page, `trial-${suffix}`))
    await page.goto(portal)
    t.ok(await picture(page, `start-used-${suffix}`))
    await page.setViewportSize({ width, height: 400 })
    await page.goto(`${partner}/oauth/authorize?client_id=acme-payments&redirect_uri=https://foreign.example/`)
    t.equal(await heading(page), 'This sign-in cannot go on')
    t.ok(await picture(page, `error-page-${suffix}`, colorScheme === 'light' ? readme('error-page') : undefined))
    t.match(await reported(problems), [/status of 400/])
  }, { colorScheme, viewport: { width, height: 900 } })
}

for (const javaScriptEnabled of [true, false]) {
  const name = javaScriptEnabled ? 'with' : 'without'
  await visit(`a trial that waits continues by itself, ${name} JavaScript`, async (t, { page }) => {
    await page.goto(`${portal}/external-oauth/demo?trial=expired-code`)
    await logIn(page, 'Bo Lindqvist')
    await page.locator('#live[data-ended=false]').waitFor()
    t.equal(await outcome(page), 'The service fails this trial', 'the codes of the example live longer')
  }, { javaScriptEnabled })
}

for (const [colorScheme, width] of [['light', 1100], ['dark', 390]] as const) {
  await visit(`a sign-in that does not come back, ${colorScheme}, ${width} pixels wide`, async (t, { page }) => {
    await page.goto(`${portal}/external-oauth/demo`)
    await page.waitForURL(`${partner}/login?return_to=*`)
    await page.goto(portal)
    await page.getByRole('link', { name: 'Waiting for your service' }).click()
    await page.getByRole('heading', { name: 'The browser does not come back?' }).waitFor()
    const rules = page.locator('#causes').locator('..').locator('li')
    t.equal(await rules.count(), 5)
    t.equal(await rules.locator('.bad').count(), 0, 'nothing is wrong with the example')
    t.ok(await picture(page, `waiting-${colorScheme}-${width}`))
  }, { colorScheme, viewport: { width, height: 900 } })
}

await visit('User not eligible, tried with a user who is: no accusation', async (t, { page }) => {
  await logInAt(partner, page, 'Bo Lindqvist')
  await page.goto(`${portal}/external-oauth/demo?trial=ineligible-user`)
  t.equal(await outcome(page), 'Bo Lindqvist was let in')
  t.match(await page.locator('.lede').innerText(), 'Log in at your application as a user who may not use the portal')
  t.equal(await page.locator('.lede .chip.bad').count(), 0)
})
