// The installed examples, each started by the command that its first lines name. Ada comes from its portal, logs in,
// and enters.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { addIntegration } from '../../examples/portals-from-table.ts'
import { Browser } from '../helpers/browser.ts'
import { openidProvider, samlProvider } from '../helpers/identity-provider.ts'
import { freePort } from '../helpers/ports.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { prepared } from '../helpers/prepared.ts'
import { SAML_CERTIFICATE } from '../helpers/saml-certificate.ts'
import { started } from '../helpers/started.ts'
import { cwd } from './installed.ts'

const SECRET = 'a secret of this test'
const database = await prepared(() => startPostgres(t))

interface Example {
  app: string
  /** Where a sign-in begins, and where it comes back to. */
  loginUrl: string
  redirectUri: string
  browser: Browser
}

/** Starts an example, and waits until its portal has started. */
async function start (t: Test, command: string): Promise<Example> {
  const [port, portalPort] = [await freePort(), await freePort()]
  const [app, portal] = [`http://localhost:${port}`, `http://127.0.0.1:${portalPort}`]
  const isFederated = command.endsWith('federated')
  const saml = command.endsWith('saml') ? await samlProvider(t, app, `${app}/login/saml`) : undefined
  const { printed } = started(t, [process.execPath, ...`examples/dist/${command}`.split(' ')], {
    PORT: String(port),
    PORTAL_PORT: String(portalPort),
    PORTAL_CLIENT_SECRET: SECRET,
    PORTAL_TIMEOUT: '60',
    DATABASE_URL: database.url,
    OIDC_ISSUER: isFederated ? await openidProvider(t, `${app}/login/callback`, SECRET) : '',
    OIDC_CLIENT_ID: 'acme',
    OIDC_CLIENT_SECRET: SECRET,
    SAML_ENTRY_POINT: saml?.entryPoint ?? '',
    SAML_CERT: SAML_CERTIFICATE,
    NOTICE: '0'
  }, cwd)
  await printed(/^The portal: /m)
  const [loginUrl, redirectUri] = [`${portal}/external-oauth/local`, `${portal}/oauth/callback`]
  return { app, loginUrl, redirectUri, browser: new Browser() }
}

type Program = (t: Test, example: Example) => Promise<unknown>

/** From the portal to the login, and back. */
const enters: Program = async (t, { loginUrl, browser }) => {
  const login = await browser.signIn(loginUrl)
  t.match((await browser.submit(login.url, { user: 'u-1' })).text, 'Ada Okafor is signed in')
}

/** From the portal to the login of a client in the browser. */
const isLedTo = (path: string): Program => async (t, { app, loginUrl, browser }) => {
  t.match((await browser.signIn(loginUrl)).url, `${app}${path}?return_to=`)
}

/**
 * A logout ends the session also for whoever has kept its cookie; a page of another site logs nobody out or in, and
 * `return_to` leads to no other site.
 */
const keepsSessions: Program = async (t, { app }) => {
  const post = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    await fetch(app + path, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ user: 'u-1' }),
      redirect: 'manual'
    })
  const { headers } = await post('/login?return_to=https%3A%2F%2Fevil.example%2F')
  t.equal(headers.get('location'), '/')
  const [line = ''] = headers.getSetCookie()
  t.match(line, /; HttpOnly; SameSite=Lax$/)
  const cookie = line.split(';')[0] as string
  for (const path of ['/login', '/logout']) {
    t.equal((await post(path, { cookie, 'sec-fetch-site': 'same-site' })).status, 403, path)
  }
  await post('/logout', { cookie })
  t.notMatch(await (await fetch(app, { headers: { cookie } })).text(), 'Ada Okafor')
}

/** By what follows `node examples/dist/` in the commands of the examples. */
const programs: Record<string, Program> = {
  async 'express.js' (t, example) {
    await enters(t, example)
    await keepsSessions(t, example)
  },
  'demo.js own-pages': enters,
  'logins/start.js form': enters,
  'logins/start.js cookie-path': enters,
  async 'logins/start.js saml' (t, { app, loginUrl, browser }) {
    const login = await browser.signIn(loginUrl)
    // A browser sends this form by itself.
    const page = await browser.submit(login.url, { user: 'u-1' })
    const [, SAMLResponse = ''] = /name="SAMLResponse" value="(.+?)"/.exec(page.text) ?? []
    t.match((await browser.submit(`${app}/login/saml`, { SAMLResponse })).text, 'Ada Okafor is signed in')
  },

  async 'logins/start.js second-factor' (t, { loginUrl, browser }) {
    const login = await browser.signIn(loginUrl)
    const page = await browser.submit(login.url, { user: 'u-1' })
    const [, code = ''] = /<output>(\d{6})</.exec(page.text) ?? []
    t.match((await browser.submit(page.url, { code })).text, 'Ada Okafor is signed in')
  },

  'logins/start.js federated': enters,
  'logins/start.js single-page': isLedTo('/app/login'),
  'logins/start.js bearer': isLedTo('/enter'),

  async 'nest/main.js' (t, example) {
    await enters(t, example)
    await keepsSessions(t, example)
    const { app, browser } = example
    t.equal((await browser.signIn(`${app}/ready`)).text, '{"ready":true}')
    t.match((await browser.signIn(`${app}/account`)).text, '"id":"u-1"')
    t.equal((await fetch(`${app}/account`)).status, 403, 'the guard is on controllers')
  },

  async 'demo.js prometheus' (t, example) {
    await enters(t, example)
    const { app, browser } = example
    t.match((await browser.signIn(`${app}/metrics`)).text, /type="user_information_returned",.+ 1$/m)
  },

  async 'demo.js postgres-store' (t, example) {
    await enters(t, example)
    const { loginUrl, browser } = example
    await database.stop()
    t.notMatch((await browser.signIn(loginUrl)).text, 'Ada Okafor is signed in', 'the store is in the database')
    await database.start()
    // A request may still get a connection that the server has ended.
    while (!(await browser.signIn(loginUrl)).text.includes('Ada Okafor is signed in'));
  },

  async 'demo.js portals-from-table' (t, example) {
    await enters(t, example)
    const { loginUrl, redirectUri, browser } = example
    const signsIn = async () => (await browser.signIn(loginUrl)).text.includes('Ada Okafor is signed in')
    const portal = { loginUrl, clientId: 'acme-payments', clientSecret: SECRET, redirectUri }
    await database.pool.query('DELETE FROM integrations')
    t.notOk(await signsIn(), 'not in the table')
    await addIntegration(database.pool, portal)
    t.ok(await signsIn(), 'added while the app runs')
    await database.pool.query('UPDATE integrations SET enabled = false')
    await addIntegration(database.pool, portal)
    t.notOk(await signsIn(), 'a changed integration that is turned off stays off')
  }
}

for (const [command, test] of Object.entries(programs)) {
  t.test(command, async (t) => await test(t, await start(t, command)))
}

t.test('each example that names a command is here', async (t) => {
  const sources = readdirSync(join(cwd, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!dist).*\.ts$/.test(file))
    .map((file) => readFileSync(join(cwd, 'examples', file), 'utf8'))
  const named = [...sources.join('').matchAll(/^\/\/.* node examples\/dist\/(\S+)(.*)$/gm)]
    .flatMap(([, program = '', names = '']) => names.split('|').map((name) => `${program} ${name.trim()}`.trim()))
  t.strictSame([...new Set(named)].sort(), Object.keys(programs).sort())
})
