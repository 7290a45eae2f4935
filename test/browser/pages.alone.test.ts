// What people see: every main page, light and dark, wide and narrow, and what axe says of each. UPDATE_SCREENSHOTS=1
// takes the pictures of the README.
import { readFileSync } from 'node:fs'
import type { AxeResults } from 'axe-core'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { startScene } from '../helpers/browser-scene.ts'
import { again, arrives, heading, logIn, outcome, reported } from '../helpers/walk.ts'

const update = process.env.UPDATE_SCREENSHOTS === '1'
const images = '.github/images/'
const { partner, portal, visit } = await startScene(t, {
  ...(update ? { ports: [3000, 3001] } : {}),
  flags: ['--code-lifetime', '6']
})

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

const LOOKS = [['light', 1100], ['dark', 390]] as const

/** The page light and wide, dark and narrow: false where it is wider than the window, or axe finds a violation. */
async function looksRight (page: Page, height = 900): Promise<boolean> {
  await page.evaluate(axe)
  const found: boolean[] = []
  for (const [colorScheme, width] of LOOKS) {
    await show(page, colorScheme, width, height)
    const { violations } = await page.evaluate<AxeResults>('axe.run()')
    for (const { id, nodes } of violations) t.comment(page.url(), colorScheme, id, nodes.map(({ target }) => target))
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
    found.push(fits && violations.length === 0)
  }
  return found.every(Boolean)
}

async function show (page: Page, colorScheme: 'light' | 'dark', width: number, height = 900): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme })
}

async function picture (page: Page, name: string): Promise<void> {
  if (update) await page.screenshot({ path: `${images}${name}.png`, animations: 'disabled' })
}

const top = async (locator: Locator): Promise<number> => (await locator.boundingBox())?.y as number

// The trials wait for the end of a lifetime.
t.jobs = 2

for (const javaScriptEnabled of [true, false]) {
  const name = javaScriptEnabled ? 'with' : 'without'
  visit(`a trial that waits continues by itself, ${name} JavaScript`, async (t, { page }) => {
    await page.goto(`${portal}/external-oauth/demo?trial=expired-code`)
    await logIn(page, 'Bo Lindqvist')
    await page.locator('#live[data-ended=false]').waitFor()
    t.equal(await outcome(page), 'The service fails this trial', 'the codes of the example live longer')
  }, { javaScriptEnabled })
}

visit('the pages', async (t, { page, problems }) => {
  await page.goto(portal)
  t.ok(await looksRight(page), 'the start page')
  await page.getByRole('link', { name: 'Sign in', exact: true }).click()
  await arrives(t, page, 'Log in to Acme Payments')
  t.ok(await looksRight(page), 'the login page')
  await logIn(page, 'Ada Okafor')
  t.equal(await outcome(page), 'Ada Okafor is signed in')
  t.equal(await again(page), 'Ada Okafor is signed in', 'again, now that everything is warm')
  t.ok(await looksRight(page), 'a sign-in')
  const distance = async () => await top(page.locator('#steps')) - await top(page.locator('#record'))
  t.ok(await distance() > 0, 'narrow: the user comes before the fifteen steps')
  await show(page, 'dark', 1100)
  await picture(page, 'timeline-dark')
  await show(page, 'light', 1100)
  await picture(page, 'timeline')
  t.ok(Math.abs(await distance()) < 40, 'wide: the user stands beside the fifteen steps')
  await page.locator('#step-12 summary').click()
  t.ok(await looksRight(page), 'a step with its exchange')
  await page.goto(partner)
  t.ok(await looksRight(page), 'the home page')
  const logOut = page.getByRole('button', { name: 'Log out' })
  t.ok(Number((await logOut.boundingBox())?.height) < 48, 'the button has one line')
  await logOut.click()
  await page.getByRole('link', { name: 'Log in' }).click()
  await logIn(page, 'Dev Patel')
  await page.getByRole('link', { name: 'Open the dispute portal' }).click()
  t.equal(await outcome(page), 'The sign-in stopped at step 5')
  t.ok(await looksRight(page), 'a refused user')
  await page.getByRole('link', { name: 'Try: Foreign redirect_uri' }).click()
  await page.getByRole('heading', { name: 'Rejected, as it should be' }).waitFor()
  t.ok(await looksRight(page), 'a trial')
  await page.goto(portal)
  t.ok(await looksRight(page), 'the start page with sign-ins')
  await page.goto(`${partner}/oauth/authorize?client_id=acme-payments&redirect_uri=https://foreign.example/`)
  t.equal(await heading(page), 'This sign-in cannot go on')
  t.ok(await looksRight(page, 400), 'the error page')
  await show(page, 'light', 1100, 400)
  await picture(page, 'error-page')
  t.match(await reported(problems), [/status of 400/])
})
