import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

export const heading = async (page: Page): Promise<string> => await page.locator('h1').innerText()

/** Waits for the page with this heading: after a click or a key the browser may still have the page before. */
export async function arrives (t: Test, page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor().catch(() => {})
  t.equal(await heading(page), name)
}

/** Takes the problems that the browser has reported. It may report them later than the page changes. */
export async function reported (problems: string[], count = 1): Promise<string[]> {
  const end = performance.now() + 60_000
  while (problems.length < count && performance.now() < end) await wait(20)
  return problems.splice(0)
}

/** Chooses a user on the partner's login page. */
export async function logIn (page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click()
}

/** Waits until a sign-in has ended, and returns what its page says. */
export async function outcome (page: Page): Promise<string> {
  await page.waitForURL('**/sign-ins/*')
  // The trial is offered then.
  await page.locator('#trial-offer').waitFor()
  return await heading(page)
}

/** Signs in again, from the page of a sign-in; returns what that page then says. */
export async function again (page: Page, begin?: () => Promise<unknown>): Promise<string> {
  const before = page.url()
  await (begin?.() ?? page.getByRole('link', { name: 'Sign in again' }).click())
  await page.waitForURL(({ href, pathname }) => href !== before && pathname.startsWith('/sign-ins/'))
  return await outcome(page)
}

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

const LOOKS = [['light', 1100], ['dark', 390]] as const

/** The page light and wide, dark and narrow: false where it is wider than the window, or axe finds a violation. */
export async function looksRight (t: Test, page: Page): Promise<boolean> {
  await page.evaluate(axe)
  const found: boolean[] = []
  for (const [colorScheme, width] of LOOKS) {
    await show(page, colorScheme, width)
    const { violations } = await page.evaluate<AxeResults>('axe.run()')
    for (const { id, nodes } of violations) t.comment(page.url(), colorScheme, id, nodes.map(({ target }) => target))
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)
    found.push(fits && violations.length === 0)
  }
  return found.every(Boolean)
}

export async function show (page: Page, colorScheme: 'light' | 'dark', width: number): Promise<void> {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme })
}
