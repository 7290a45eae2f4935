// Settings of a partner's application that break the way to the portal and back, in Chromium.
import helmet from '@fastify/helmet'
import t from 'tap'
import { startScene } from '../helpers/browser-scene.ts'
import { goToLogin, heading, logIn, logInAt, outcome } from '../helpers/walk.ts'

t.test('the policy of @fastify/helmet as it comes blocks the way from the login form to the portal', async (t) => {
  // The types of the plugin lack it.
  const { contentSecurityPolicy } = helmet as any
  const directives = Object.entries<Iterable<string>>(contentSecurityPolicy.getDefaultDirectives())
  const policy = directives.map(([name, values]) => `${name} ${[...values].join(' ')}`).join('; ')
  const { portal, calls, visit } = await startScene(t, {
    app: {
      prepare (app) {
        app.addHook('onSend', async (_request, reply) => { reply.header('content-security-policy', policy) })
        app.get('/favicon.ico', (_request, reply) => reply.code(204).send())
      }
    }
  })
  await visit('in Chromium', async (t, { page, requests, problems }) => {
    await goToLogin(t, page, portal)
    const blocked = page.waitForEvent('console', (message) => message.text().includes('form-action'))
    await logIn(page, 'Ada Okafor')
    t.match((await blocked).text(), 'form-action \'self\'')
    t.equal(await heading(page), 'Log in to Acme Payments', 'the browser stays where it was')
    t.notOk(requests.some((url) => url.startsWith(`${portal}/oauth/callback`)))
    t.strictSame(calls, [])
    await page.goto(`${portal}/external-oauth/demo`)
    t.equal(await outcome(page), 'Ada Okafor is signed in', 'the login itself succeeded')
    problems.length = 0
  })
})

t.test('a session cookie with SameSite=Strict', async (t) => {
  const { partner, portal, visit } = await startScene(t)
  await visit('is not sent: a user who is logged in arrives logged out', async (t, { page, context }) => {
    await logInAt(partner, page, 'Ada Okafor')
    const [session] = await context.cookies(partner)
    t.match(session, { sameSite: 'Lax' })
    if (session !== undefined) await context.addCookies([{ ...session, sameSite: 'Strict' }])
    await goToLogin(t, page, portal)
    await page.goto(partner)
    t.equal(await heading(page), 'Good day, Ada Okafor', 'though the session is there')
  })
})
