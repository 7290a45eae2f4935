// The pages of examples/own-pages.ts in Chromium: who may not enter, and what cannot go back to the portal.
import t from 'tap'
import { addTemplates, ownPages } from '../../examples/own-pages.ts'
import { startScene } from './scene.ts'
import { heading, logIn, looksRight, reported } from './walk.ts'

t.test('the pages of the partner', async (t) => {
  const { partner, portal, calls, visit } = await startScene(t, { app: { prepare: addTemplates, sso: ownPages } })

  await visit('a user who may not enter', async (t, { page, problems }) => {
    await page.goto(`${portal}/external-oauth/local`)
    await logIn(page, 'Dev Patel')
    await page.getByRole('heading', { name: 'You have no access to the portal' }).waitFor()
    t.equal(new URL(page.url()).origin, partner)
    t.ok(await looksRight(t, page))
    t.strictSame(calls, [])
    t.match(await reported(problems), [/status of 403/])
  })

  await visit('a redirect_uri that is not registered', async (t, { page, problems }) => {
    await page.goto(`${partner}/oauth/authorize?client_id=acme-payments&redirect_uri=https://foreign.example/`)
    t.equal(await heading(page), 'We cannot continue this sign-in')
    t.ok(await looksRight(t, page))
    const link = page.getByRole('link', { name: 'Start again' })
    t.equal(await link.getAttribute('href'), `${portal}/external-oauth/local`)
    t.match(await reported(problems), [/status of 400/])
  })
})
