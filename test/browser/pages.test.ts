// What people see: every main page, light and dark, wide and narrow, and what axe says of each. UPDATE_SCREENSHOTS=1
// takes the pictures of the README.
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { startScene } from './scene.ts'
import { again, arrives, heading, logIn, looksRight, outcome, reported, show } from './walk.ts'

const update = process.env.UPDATE_SCREENSHOTS === '1'

async function picture (page: Page, name: string): Promise<void> {
  if (update) await page.screenshot({ path: `.github/images/${name}.png`, animations: 'disabled' })
}

const top = async (locator: Locator): Promise<number> => (await locator.boundingBox())?.y as number

t.test('pages', async (t) => {
  const { partner, portal, visit } = await startScene(t, update ? { ports: [3000, 3001] } : {})

  await visit('the pages', async (t, { page, problems }) => {
    await page.goto(portal)
    t.ok(await looksRight(t, page), 'the start page')
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    await arrives(t, page, 'Log in to Acme Payments')
    t.ok(await looksRight(t, page), 'the login page')
    await logIn(page, 'Ada Okafor')
    t.equal(await outcome(page), 'Ada Okafor is signed in')
    t.equal(await again(page), 'Ada Okafor is signed in', 'again, now that everything is warm')
    t.ok(await looksRight(t, page), 'a sign-in')
    const distance = async () => await top(page.locator('#steps')) - await top(page.locator('#record'))
    t.ok(await distance() > 0, 'narrow: the user comes before the fifteen steps')
    await show(page, 'dark', 1100)
    await picture(page, 'timeline-dark')
    await show(page, 'light', 1100)
    await picture(page, 'timeline')
    t.ok(Math.abs(await distance()) < 40, 'wide: the user stands beside the fifteen steps')
    await page.locator('#step-12 summary').click()
    t.ok(await looksRight(t, page), 'a step with its exchange')
    await page.goto(partner)
    t.ok(await looksRight(t, page), 'the home page')
    const logOut = page.getByRole('button', { name: 'Log out' })
    t.ok(Number((await logOut.boundingBox())?.height) < 48, 'the button has one line')
    await logOut.click()
    await page.getByRole('link', { name: 'Log in' }).click()
    await logIn(page, 'Dev Patel')
    await page.getByRole('link', { name: 'Open the dispute portal' }).click()
    t.equal(await outcome(page), 'The sign-in stopped at step 5')
    t.ok(await looksRight(t, page), 'a refused user')
    await page.getByRole('link', { name: 'Try: User not eligible' }).click()
    await page.getByRole('heading', { name: 'The user was refused, and the portal knows it' }).waitFor()
    t.ok(await looksRight(t, page), 'a trial')
    await page.goto(portal)
    t.ok(await looksRight(t, page), 'the start page with sign-ins')
    await page.goto(`${partner}/oauth/authorize?client_id=acme-payments&redirect_uri=https://foreign.example/`)
    t.equal(await heading(page), 'This sign-in cannot continue')
    t.ok(await looksRight(t, page), 'the error page')
    t.match(await reported(problems), [/status of 400/])
  })
})
