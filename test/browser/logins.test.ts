// The logins of examples/logins in a browser that several people share: each question is asked of each login.
import { allowInsecureRequests, discovery } from 'openid-client'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { bearerLogin } from '../../examples/logins/bearer.ts'
import { cookiePathLogin } from '../../examples/logins/cookie-path.ts'
import { federatedLogin } from '../../examples/logins/federated.ts'
import { formLogin } from '../../examples/logins/form.ts'
import { nodeSaml, samlLogin } from '../../examples/logins/saml.ts'
import { secondFactorLogin } from '../../examples/logins/second-factor.ts'
import type { Login } from '../../examples/logins/settings.ts'
import { singlePageLogin } from '../../examples/logins/single-page.ts'
import { startScene } from './scene.ts'
import type { Visit } from './scene.ts'
import { openidProvider, samlProvider } from '../helpers/identity-provider.ts'
import { freePort } from '../helpers/ports.ts'
import { SAML_CERTIFICATE } from '../helpers/saml-certificate.ts'
import { arrives, logIn, looksRight, outcome, reported } from './walk.ts'

interface Place {
  partner: string
  portal: string
  /** The paths of the login and of the page that it leads to by itself. */
  path: string
  home: string
  /** What Back shows after a sign-in. */
  back: string
  /** The origin of its identity provider. */
  others: string[]
  /** Makes the token of the client one that has expired. */
  expire?: () => void
}

const LOGIN = 'Log in to Acme Payments'
const [ADA, BO, EVE] = ['Ada Okafor', 'Bo Lindqvist', 'Eve Novak']
const entered = (name: string): string => `${name} is signed in`

/** From the portal to the login page. */
async function begin (t: Test, page: Page, { portal }: Place): Promise<void> {
  await page.goto(`${portal}/external-oauth/local`)
  await arrives(t, page, LOGIN)
}

/** Logs in, and returns what the portal says. */
async function signIn (page: Page, name: string): Promise<string> {
  await logIn(page, name)
  return await outcome(page)
}

/** A login that the portal did not begin leads home, and from there to the portal. */
async function ordinaryLogin (t: Test, page: Page, { partner, path, home }: Place, name: string): Promise<void> {
  await page.goto(partner + path)
  await logIn(page, name)
  await page.waitForURL(partner + home)
  await page.getByRole('link', { name: 'Open the dispute portal' }).click()
  t.equal(await outcome(page), entered(name))
}

async function logOut (page: Page, { partner, home }: Place): Promise<void> {
  await page.goto(partner + home)
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('link', { name: 'Log in' }).or(page.getByRole('heading', { name: LOGIN })).waitFor()
}

/** A wrong password, then a registration. An identity provider has its own pages for that: only logs in. */
async function register (page: Page, { others }: Place): Promise<string> {
  if (others.length > 0) {
    await logIn(page, ADA)
    return ADA
  }
  await logIn(page, 'Somebody else')
  await page.getByRole('alert').waitFor()
  const link = page.getByRole('link', { name: 'Register' })
  if (await link.count() > 0) await link.click()
  await page.getByLabel('Your name').fill(EVE)
  await page.getByRole('button', { name: 'Register' }).click()
  return EVE
}

type Question = (t: Test, visit: Visit, place: Place) => Promise<unknown>

const questions: Record<string, Question> = {
  async 'giving up, then another user: nobody is led to the portal unasked, or enters as the last one' (
    t, { page }, place
  ) {
    await begin(t, page, place)
    await ordinaryLogin(t, page, place, ADA)
    await logOut(page, place)
    await begin(t, page, place)
    t.equal(await signIn(page, BO), entered(BO))
    await page.goBack()
    await arrives(t, page, place.back)
    await page.goto(`${place.portal}/external-oauth/local`)
    t.equal(await outcome(page), entered(BO), 'logged in already')
  },

  async 'three tabs: each comes back to its own sign-in, with a login or without' (t, visit, place) {
    const { page, tab, requests } = visit
    const [second, third] = [await tab(), await tab()]
    await begin(t, page, place)
    const login = requests.find((url) => url.startsWith(`${place.partner}${place.path}?`)) as string
    for (const tab of [second, third]) await begin(t, tab, place)
    t.equal(await signIn(second, ADA), entered(ADA))
    t.equal(await signIn(third, BO), entered(BO))
    await page.goto(login)
    t.equal(await outcome(page), entered(BO), 'logged in meanwhile: the login page leads on')
    t.equal(new Set([page, second, third].map((tab) => tab.url())).size, 3)
  },

  async 'a wrong password, a registration, an expired session' (t, { page, context, problems }, place) {
    const { partner, home, expire } = place
    await begin(t, page, place)
    const name = await register(page, place)
    t.equal(await outcome(page), entered(name))

    const cookies = await context.cookies(partner)
    await page.goto(partner + home)
    await (expire === undefined ? logOut(page, place) : page.evaluate(expire))
    await context.addCookies(cookies)
    await begin(t, page, place)
    t.equal(await signIn(page, BO), entered(BO))
    for (const problem of problems.splice(0)) t.match(problem, /status of 40[01]/, problem)
  }
}

interface Column extends Omit<Place, 'partner' | 'portal'> {
  login: Login
  prefix?: string
  ports?: [number, number]
}

/** Asks all questions of a login. */
async function askAll (t: Test, { login, prefix = '', ports, ...paths }: Column): Promise<void> {
  const { partner, portal, visit } = await startScene(t, {
    app: { login, formActions: paths.others },
    others: paths.others,
    prefix,
    ...ports && { ports }
  })
  for (const [name, ask] of Object.entries(questions)) {
    await visit(name, async (t, visit) => await ask(t, visit, { partner, portal, ...paths }))
  }
}

const AT_ROOT = { path: '/login', home: '/', back: entered(BO), others: [] }

const columns: Record<string, Column> = {
  'a page with a form': { login: formLogin, ...AT_ROOT },
  'a single-page client': { login: singlePageLogin, ...AT_ROOT, path: '/app/login' },
  'an API with bearer tokens': {
    login: bearerLogin,
    ...AT_ROOT,
    path: '/enter',
    expire: () => { localStorage.token = 'expired' }
  },
  'a session cookie with a Path': {
    login: cookiePathLogin,
    ...AT_ROOT,
    prefix: '/app',
    path: '/app/login',
    home: '/app/'
  }
}

for (const [name, column] of Object.entries(columns)) t.test(name, async (t) => await askAll(t, column))

t.test('OpenID Connect', async (t) => {
  const ports: [number, number] = [await freePort(), await freePort()]
  const callback = `http://localhost:${ports[0]}/login/callback`
  const secret = 'a secret of the identity provider'
  const provider = await openidProvider(t, callback, secret)
  const client = await discovery(new URL(provider), 'acme', secret, undefined, { execute: [allowInsecureRequests] })
  await askAll(t, {
    login: federatedLogin(client, callback),
    ...AT_ROOT,
    back: LOGIN,
    others: [provider],
    ports
  })
})

t.test('SAML', async (t) => {
  const ports: [number, number] = [await freePort(), await freePort()]
  const issuer = `http://localhost:${ports[0]}`
  const callbackUrl = `${issuer}/login/saml`
  const { origin, entryPoint } = await samlProvider(t, issuer, callbackUrl)
  const provider = nodeSaml({ entryPoint, idpCert: SAML_CERTIFICATE, issuer, audience: issuer, callbackUrl })
  await askAll(t, {
    login: samlLogin(provider),
    ...AT_ROOT,
    back: LOGIN,
    others: [origin],
    ports
  })
})

t.test('a login of two pages', async (t) => {
  const { partner, portal, visit } = await startScene(t, { app: { login: secondFactorLogin } })
  const code = async (page: Page): Promise<string> => await page.locator('output').innerText()

  await visit('the password alone gets no code; a wrong code is refused; the right one leads to the portal', async (
    t, { page, tab, problems }
  ) => {
    await page.goto(`${portal}/external-oauth/local`)
    await arrives(t, page, LOGIN)
    await logIn(page, ADA)
    await arrives(t, page, 'Enter your code')
    t.ok(await looksRight(t, page))

    const second = await tab()
    await second.goto(`${portal}/external-oauth/local`)
    await arrives(t, second, LOGIN)
    await second.close()

    const right = await code(page)
    await page.getByLabel('Code').fill(right === '000000' ? '000001' : '000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').waitFor()
    for (const problem of await reported(problems)) t.match(problem, /status of 400/, problem)
    t.ok(await looksRight(t, page))
    await page.getByLabel('Code').fill(right)
    await page.getByRole('button', { name: 'Continue' }).click()
    t.equal(await outcome(page), entered(ADA))
  })

  await visit('a login that the portal did not begin leads home', async (t, { page }) => {
    await page.goto(`${partner}/login`)
    await logIn(page, BO)
    await page.getByLabel('Code').fill(await code(page))
    await page.getByRole('button', { name: 'Continue' }).click()
    await arrives(t, page, `Good day, ${BO}`)
    await page.getByRole('link', { name: 'Open the dispute portal' }).click()
    t.equal(await outcome(page), entered(BO))
  })
})
