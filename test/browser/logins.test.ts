// Each login of examples/logins: from the portal to the login and back, in Chromium.
import { allowInsecureRequests, discovery } from 'openid-client'
import t from 'tap'
import type { Test } from 'tap'
import { loginApp } from '../../examples/logins/app.ts'
import { bearerLogin } from '../../examples/logins/bearer.ts'
import { cookiePathLogin } from '../../examples/logins/cookie-path.ts'
import { federatedLogin } from '../../examples/logins/federated.ts'
import { formLogin } from '../../examples/logins/form.ts'
import { samlLogin } from '../../examples/logins/saml.ts'
import type { Login } from '../../examples/logins/settings.ts'
import { singlePageLogin } from '../../examples/logins/single-page.ts'
import { freePort } from '../helpers/ports.ts'
import { openidProvider, samlProvider } from '../helpers/identity-provider.ts'
import { startScene } from '../helpers/browser-scene.ts'
import type { Scene, SceneOptions } from '../helpers/browser-scene.ts'
import { again, arrives, logIn, outcome } from '../helpers/walk.ts'

interface Place {
  /** The path of the login page at the partner. */
  path: string
  /** Where the login is, if not at the partner. */
  elsewhere?: string
  options?: SceneOptions
}

async function start (t: Test, login: Login, { elsewhere, options }: Place): Promise<Scene> {
  return await startScene(t, {
    async application (portal) {
      const app = await loginApp(login, portal, false)
      return app.get('/favicon.ico', (_request, reply) => reply.code(204).send())
    },
    others: elsewhere === undefined ? [] : [elsewhere],
    ...options
  })
}

/** Signs in from the portal by the login, and logs in without the portal. */
async function leadsBack (t: Test, login: Login, place: Place): Promise<void> {
  const { partner, portal, visit } = await start(t, login, place)
  await visit('from the portal, and back to it', async (t, { context, page, requests }) => {
    await page.goto(portal)
    await page.getByRole('link', { name: 'Sign in', exact: true }).click()
    await arrives(t, page, 'Log in to Acme Payments')
    t.equal(new URL(page.url()).origin, place.elsewhere ?? partner)
    const remembered = async () => (await context.cookies(partner)).filter(({ name }) => name === 'partner-sso-return')
    t.match(await remembered(), [{ path: '/', httpOnly: true, sameSite: 'Lax' }])
    await logIn(page, 'Carmen Ruiz')
    t.equal(await outcome(page), 'Carmen Ruiz is signed in')
    t.strictSame(await remembered(), [])
    requests.length = 0
    t.equal(await again(page), 'Carmen Ruiz is signed in')
    t.notOk(requests.some((url) => url.startsWith(partner + place.path)), 'the second time without the login')
  })
  await visit('a login by itself leads to the home page', async (_t, { page }) => {
    await page.goto(partner + place.path)
    await page.getByRole('button', { name: 'Bo Lindqvist' }).click()
    await page.waitForURL(`${partner}/`)
    await page.getByRole('link', { name: 'Open the dispute portal' }).click()
    t.equal(await outcome(page), 'Bo Lindqvist is signed in')
  })
}

await t.test('a page with a form', async (t) => {
  await leadsBack(t, formLogin, { path: '/login' })
})

await t.test('a single-page client', async (t) => {
  await leadsBack(t, singlePageLogin, { path: '/app/login' })
})

await t.test('an API with bearer tokens', async (t) => {
  await leadsBack(t, bearerLogin, { path: '/enter' })
})

await t.test('a session cookie with a Path', async (t) => {
  await leadsBack(t, cookiePathLogin, { path: '/app/login', options: { prefix: '/app' } })
})

await t.test('OpenID Connect', async (t) => {
  const ports: [number, number] = [await freePort(), await freePort()]
  const callback = `http://localhost:${ports[0]}/login/callback`
  const clientSecret = 'a secret of the identity provider'
  const issuer = await openidProvider(t, callback, clientSecret)
  const execute = [allowInsecureRequests]
  const provider = await discovery(new URL(issuer), 'acme', clientSecret, undefined, { execute })
  const login = federatedLogin(provider, callback)
  await leadsBack(t, login, { path: '/login', elsewhere: issuer, options: { ports } })
})

await t.test('SAML: the POST from another site has no cookie, the redirect after it has', async (t) => {
  const ports: [number, number] = [await freePort(), await freePort()]
  const provider = await samlProvider(t, `http://localhost:${ports[0]}/login/saml`)
  const login: Login = async (app, sso, secret) => {
    await samlLogin(provider, async (user) => user)(app, sso, secret)
    app.get('/login', (_request, reply) => reply.redirect(provider))
    app.addHook('preHandler', async ({ method, routeOptions: { url }, cookies }) => {
      if (url?.startsWith('/login/') === true) seen.push([method, url, 'partner-sso-return' in cookies])
    })
  }
  const seen: unknown[] = []
  await leadsBack(t, login, { path: '/login', elsewhere: provider, options: { ports } })
  t.strictSame(seen.slice(0, 2), [['POST', '/login/saml', false], ['GET', '/login/done', true]])
})
