// Settings of a partner's application that break the way to the portal and back, in Chromium.
import helmet from '@fastify/helmet'
import Fastify from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { example, startScene } from '../helpers/browser-scene.ts'
import type { Application, Scene } from '../helpers/browser-scene.ts'
import { goToLogin, heading, logIn, logInAt, outcome } from '../helpers/walk.ts'

/** A scene for one test, from the portal's page. */
type Body = (t: Test, scene: Scene) => Promise<unknown>

async function scene (name: string, application: Application, body: Body): Promise<void> {
  await t.test(name, async (t) => await body(t, await startScene(t, { application })))
}

/** The example with the policy of helmet in place of its own. */
const helmetAsItComes: Application = async (portal) => {
  const bare = Fastify()
  await bare.register(helmet)
  const { headers } = await bare.get('/', async () => '').inject('/')
  const app = await example(portal)
  // The policy of the example keeps Chromium from asking for it.
  app.get('/favicon.ico', (_request, reply) => reply.code(204).send())
  app.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', headers['content-security-policy'])
  })
  return app
}

await scene('@fastify/helmet as it comes', helmetAsItComes, async (_t, site) => {
  const { portal, calls } = site
  await site.visit('Chromium blocks the way from the login form to the portal', async (t, visit) => {
    const { page, requests, problems } = visit
    await goToLogin(t, page, portal)
    const blocked = page.waitForEvent('console', (message) => message.text().includes('form-action'))
    await logIn(page, 'Ada Okafor')
    t.match((await blocked).text(), 'form-action \'self\'')
    t.equal(await heading(page), 'Log in to Acme Payments', 'the browser stays where it was')
    t.notOk(requests.some((url) => url.startsWith(`${portal}/oauth/callback`)))
    t.strictSame(calls, [])
    t.equal(problems.splice(0).every((problem) => problem.includes('form-action')), true, 'and nothing else is wrong')

    await page.goto(`${portal}/external-oauth/demo`)
    t.equal(await outcome(page), 'Ada Okafor is signed in', 'the login itself succeeded')
  })
})

const strictCookie: Application = async (portal) => {
  const app = await example(portal)
  app.addHook('onSend', async (_request, reply) => {
    const header = reply.getHeader('set-cookie')
    if (header === undefined) return
    reply.removeHeader('set-cookie').header('set-cookie', String(header).replace('SameSite=Lax', 'SameSite=Strict'))
  })
  return app
}

await scene('a session cookie with SameSite=Strict', strictCookie, async (_t, site) => {
  const { partner, portal, calls } = site
  await site.visit('is not sent: a user who is logged in arrives logged out', async (t, { page, context }) => {
    await logInAt(partner, page, 'Ada Okafor')
    t.match(await context.cookies(partner), [{ name: 'acme_session', sameSite: 'Strict' }])
    await goToLogin(t, page, portal)
    t.strictSame(calls, [])
    await page.goto(partner)
    t.equal(await heading(page), 'Good day, Ada Okafor', 'though the session is there')
  })
})
