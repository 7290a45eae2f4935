// What people see: every main page, light and dark, wide and narrow. The pictures go to screenshots/; those of the
// README are taken anew with UPDATE_SCREENSHOTS=1 only.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Page } from 'playwright-core'
import t from 'tap'
import { startScene } from './helpers/scene.ts'
import { again, heading, logIn, outcome } from './helpers/walk.ts'

const update = process.env.UPDATE_SCREENSHOTS === '1'
const folder = fileURLToPath(new URL('screenshots/', import.meta.url))
const images = fileURLToPath(new URL('../../.github/images/', import.meta.url))
const { partner, portal, visit } = await startScene(t, { ...(update ? { ports: [3000, 3001] } : {}), flags: ['--code-lifetime', '1'] })

/** Takes a picture of the page; fails where the page is wider than the window. */
async function picture (page: Page, name: string, readme?: string): Promise<boolean> {
  await page.screenshot({ path: `${folder}${name}.png`, fullPage: true, animations: 'disabled' })
  if (update && readme !== undefined) {
    mkdirSync(images, { recursive: true })
    await page.screenshot({ path: `${images}${readme}.png`, animations: 'disabled' })
  }
  return await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
}

for (const [colorScheme, width] of [['light', 1100], ['dark', 1100], ['light', 360]] as const) {
  const suffix = `${colorScheme}-${width}`
  const readme = (light: string, dark?: string): string | undefined => width === 1100 ? (colorScheme === 'light' ? light : dark) : undefined
  await visit(`the pages, ${colorScheme}, ${width} pixels wide`, async (t, { page, problems }) => {
    await page.goto(portal)
    t.ok(await picture(page, `start-${suffix}`))
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    t.equal(await heading(page), 'Log in to Acme Payments')
    t.ok(await picture(page, `login-${suffix}`))
    await logIn(page, 'Ada Okafor')
    t.equal(await outcome(page), 'Ada Okafor is signed in')
    t.equal(await again(page), 'Ada Okafor is signed in', 'and once more, now that everything is warm')
    t.ok(await picture(page, `timeline-${suffix}`, readme('timeline', 'timeline-dark')))
    await page.locator('#step-12 summary').click()
    t.ok(await picture(page, `exchange-${suffix}`))
    await page.goto(partner)
    t.ok(await picture(page, `home-${suffix}`))
    await page.getByRole('button', { name: 'Log out' }).click()
    await logIn(page, 'Dev Patel')
    await page.getByRole('link', { name: 'Open the dispute portal' }).click()
    t.equal(await outcome(page), 'The sign-in stopped at step 5')
    t.ok(await picture(page, `refused-${suffix}`))
    await page.setViewportSize({ width, height: 400 })
    await page.goto(`${partner}/oauth/authorize?client_id=acme-payments&redirect_uri=https://foreign.example/`)
    t.equal(await heading(page), 'This sign-in cannot go on')
    t.ok(await picture(page, `error-page-${suffix}`, readme('error-page')))
    t.match(problems.splice(0), [/status of 400/])
  }, { colorScheme, viewport: { width, height: 900 } })
}

for (const javaScriptEnabled of [true, false]) {
  await visit(`a sign-in that takes its time goes on by itself, ${javaScriptEnabled ? 'what is open stays open' : 'without JavaScript'}`, async (t, { page }) => {
    await page.goto(`${portal}/external-oauth/demo?trial=expired-code`)
    await logIn(page, 'Bo Lindqvist')
    await page.locator('#live[data-ended=false]').waitFor()
    t.match(await page.locator('.step.running').innerText(), 'Waiting 2 s, until the code has expired.')
    await page.locator('#step-7 summary').click()
    t.equal(await outcome(page), 'The service let it through', 'the example’s codes live longer')
    t.equal(await page.locator('#step-7 .wire').isVisible(), javaScriptEnabled)
    if (javaScriptEnabled) t.match(await page.getByRole('status').textContent(), 'The service let it through', 'and it is announced')
  }, { javaScriptEnabled })
}
