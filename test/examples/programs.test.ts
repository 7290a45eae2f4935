// The examples out of the packed tarball: in an empty folder, installed and compiled by the words of their page, each
// started by the command that its first lines name, with a portal beside it.
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { addIntegration } from '../../examples/portals-from-table.ts'
import { users } from '../../examples/users.ts'
import { portal } from '../../lib/testing/index.ts'
import type { PortalDouble } from '../../lib/testing/index.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { browser } from '../helpers/browser.ts'
import { openidProvider } from '../helpers/identity-provider.ts'
import { freePort } from '../helpers/ports.ts'
import { started } from '../helpers/started.ts'
import type { Started } from '../helpers/started.ts'
import { mustRun, packed } from '../package/commands.js'
import { commands } from '../package/documents.ts'

const cwd = mkdtempSync(join(tmpdir(), 'partner-sso-examples-'))
t.teardown(() => rmSync(cwd, { recursive: true }))
const { tarball } = packed()
const install = commands(/npx tsc -p examples/).join('\n')
  .replace(/^(npm install .*)fastify-partner-sso /m, `$1${tarball} `)
t.match(install, ` ${tarball} `, 'the page installs the package')
const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
mustRun('bash', ['-ec', install], { cwd, env: npm })

/** What follows `node` in the commands of the examples. */
const described = readdirSync(join(cwd, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('dist'))
  .flatMap((file) => [...readFileSync(join(cwd, 'examples', file), 'utf8').matchAll(/^\/\/.* node (\S+)(.*)$/gm)])
  .flatMap(([, program = '', names = '']) => names.split('|').map((name) => `${program} ${name.trim()}`.trim()))
/** Those that were started. */
const programs = new Set<string>()

const clientSecret = 'a secret of the portal'

interface Demo extends Started { baseUrl: string, portalUrl: string }

/** Starts an example, and waits for the lines that say where the app and the portal are. */
async function start (t: Test, [file, ...argv]: string[], more: NodeJS.ProcessEnv = {}): Promise<Demo> {
  const ports = { PORT: String(await freePort()), PORTAL_PORT: String(await freePort()) }
  const settings = { ...ports, PORTAL_CLIENT_SECRET: clientSecret, ...more }
  const command = [`examples/dist/${file}`, ...argv]
  programs.add(command.join(' '))
  const program = started(t, [process.execPath, ...command], settings, cwd)
  await program.printed(/^The portal: /m)
  const named = (name: string) => new RegExp(`^${name}: +(\\S+)`, 'm').exec(program.output.out)?.[1] as string
  return { ...program, baseUrl: named('The app'), portalUrl: named('The portal') }
}

/** Logs in as a browser does: the cookie of the session. */
async function login (t: Test, baseUrl: string, user: string, returnTo: string): Promise<string> {
  const form = `${baseUrl}/login?return_to=${encodeURIComponent(returnTo)}`
  const body = new URLSearchParams({ user })
  const { status, headers } = await fetch(form, { method: 'POST', body, redirect: 'manual' })
  t.equal(status, 303)
  const expected = returnTo.startsWith('/oauth/') ? returnTo : /^\.?\/$/
  t.match(headers.get('location'), expected, 'return_to leads to the endpoint')
  const [cookie = ''] = headers.getSetCookie()
  t.match(cookie, /; HttpOnly; SameSite=Lax$/)
  return cookie.split(';')[0] as string
}

const double = ({ baseUrl, portalUrl }: Demo): PortalDouble => portal({
  baseUrl,
  clientId: 'acme-payments',
  clientSecret,
  redirectUri: `${portalUrl}/oauth/callback`,
  timeout: 60_000
})

/** Each user enters as what they are, or not at all. */
async function signsIn (t: Test, demo: Demo): Promise<void> {
  const { baseUrl, portalUrl } = demo
  for (const { id, email, role } of users) {
    const cookie = await login(t, baseUrl, id, id === 'u-1' ? 'https://evil.example/' : '/oauth/authorize?a=b')
    const result = await double(demo).signIn({ headers: { cookie } })
    if (role === 'guest') t.match(result, { ok: false }, `${id}: a guest may not enter`)
    else t.match(result, { ok: true, record: { external_id: id, email } }, id)
    const home = await fetch(baseUrl, { headers: { cookie } })
    t.match(await home.text(), `href="${portalUrl}/external-oauth/demo"`, `the home page of ${id} links to the portal`)
  }
  t.match(await double(demo).signIn(), { ok: false }, 'nobody enters without a login')
  const logged = await fetch(`${baseUrl}/login`, { method: 'POST', body: new URLSearchParams({ user: 'u-99' }) })
  t.equal(logged.status, 400)
}

t.test('Express', async (t) => {
  const demo = await start(t, ['express.js'])
  await signsIn(t, demo)
  await endsSessions(t, demo)
})

const LOGINS = { form: '/login', 'single-page': '/api/login', bearer: '/api/login', 'cookie-path': '/app/login' }

for (const [name, path] of Object.entries(LOGINS)) {
  t.test(`the login ${name}`, async (t) => {
    const { baseUrl, portalUrl } = await start(t, ['logins/start.js', name])
    const home = await fetch(baseUrl)
    t.match(await home.text(), `href="${portalUrl}/external-oauth/demo"`)
    const isApi = path.startsWith('/api/')
    const headers = { 'content-type': isApi ? 'application/json' : 'application/x-www-form-urlencoded' }
    const body = isApi ? '{"user":"u-1"}' : 'user=u-1'
    const response = await fetch(baseUrl + path, { method: 'POST', headers, body, redirect: 'manual' })
    t.equal(response.status, isApi ? 200 : 303)
  })
}

t.test('the login federated, at the provider that the environment names', async (t) => {
  const PORT = String(await freePort())
  const callback = `http://localhost:${PORT}/login/callback`
  const OIDC_ISSUER = await openidProvider(t, callback, 'a secret of the provider')
  const settings = { PORT, OIDC_ISSUER, OIDC_CLIENT_ID: 'acme', OIDC_CLIENT_SECRET: 'a secret of the provider' }
  const { portalUrl } = await start(t, ['logins/start.js', 'federated'], settings)
  const visit = browser()
  const login = await visit(`${portalUrl}/external-oauth/demo`)
  t.equal(new URL(login.url).origin, OIDC_ISSUER)
  const back = await visit(login.url, { user: 'u-1' })
  t.equal(new URL(back.url).origin, portalUrl)
  t.match(back.text, 'Ada Okafor is signed in')
})

t.test('a login that is not there', async (t) => {
  const { child, output } = started(t, [process.execPath, 'examples/dist/logins/start.js', 'toString'], {}, cwd)
  t.strictSame(await once(child, 'close'), [1, null])
  t.match(output.err, 'Say which one: form, single-page, federated, bearer, cookie-path')
})

t.test('NestJS', async (t) => {
  const nest = await start(t, ['nest/main.js'], { NOTICE: '0' })
  await signsIn(t, nest)
  await endsSessions(t, nest)
  await hasGuardAndReadiness(t, nest.baseUrl)
})

t.test('own pages', async (t) => {
  const demo = await start(t, ['demo.js', 'own-pages'])
  await signsIn(t, demo)
})

t.test('Prometheus', async (t) => {
  const demo = await start(t, ['demo.js', 'prometheus'])
  await signsIn(t, demo)
  const metrics = await fetch(`${demo.baseUrl}/metrics`)
  t.match(await metrics.text(), 'partner_sso_events_total{type="user_information_returned",reason="ok",')
})

t.test('on PostgreSQL, before and after a restart of it', async (t) => {
  const { url, pool, restart } = await startPostgres(t)
  const store = await start(t, ['demo.js', 'postgres-store'], { DATABASE_URL: url })
  const portals = await start(t, ['demo.js', 'portals-from-table'], { DATABASE_URL: url })
  for (const demo of [store, portals]) await signsIn(t, demo)
  const { rows } = await pool.query('SELECT client_id FROM integrations')
  t.strictSame(rows, [{ client_id: 'acme-payments' }])
  t.match(await pool.query('SELECT FROM partner_sso'), { rowCount: Number })
  await restart()
  for (const demo of [store, portals]) await signsInAgain(t, demo)
  const { portalUrl, baseUrl } = portals
  const user = { headers: { cookie: await login(t, baseUrl, 'u-1', '/') } }
  const add = async () => await addIntegration(pool, {
    loginUrl: portalUrl, clientId: 'acme-payments', clientSecret, redirectUri: `${portalUrl}/oauth/callback`
  })
  await pool.query('DELETE FROM integrations')
  t.match(await double(portals).signIn(user), { ok: false }, 'not in the table')
  await add()
  t.match(await double(portals).signIn(user), { ok: true }, 'added while the app runs')
  await pool.query('UPDATE integrations SET enabled = false')
  await add()
  t.match(await double(portals).signIn(user), { ok: false }, 'a changed integration that is turned off stays off')
})

t.test('no example that names a command is left out', async (t) => {
  t.strictSame([...programs].sort(), [...new Set(described)].sort())
})

/** A request may still get a connection that the server has ended. An app that has ended refuses the login. */
async function signsInAgain (t: Test, demo: Demo): Promise<void> {
  const logIn = async () => ({ headers: { cookie: await login(t, demo.baseUrl, 'u-1', '/') } })
  while (!(await double(demo).signIn(await logIn())).ok);
  await signsIn(t, demo)
}

/** A logout ends the session also for who has kept its cookie; a page of another site logs nobody out, or in. */
async function endsSessions (t: Test, { baseUrl }: Demo): Promise<void> {
  const cookie = await login(t, baseUrl, 'u-1', '/')
  const logOut = async (site: string): Promise<string> => {
    for (const path of ['/logout', '/login']) {
      const headers = { cookie, 'sec-fetch-site': site, 'content-type': 'application/x-www-form-urlencoded' }
      await fetch(baseUrl + path, { method: 'POST', headers, body: 'user=u-99' })
    }
    return await (await fetch(baseUrl, { headers: { cookie } })).text()
  }
  t.match(await logOut('cross-site'), 'Good day, Ada Okafor')
  t.notMatch(await logOut('same-origin'), 'Ada Okafor')
}

async function hasGuardAndReadiness (t: Test, baseUrl: string): Promise<void> {
  t.strictSame(await (await fetch(`${baseUrl}/ready`)).json(), { ready: true })
  t.equal((await fetch(`${baseUrl}/account`)).status, 403, 'the guard is on controllers')
  const cookie = await login(t, baseUrl, 'u-2', '/')
  t.match(await (await fetch(`${baseUrl}/account`, { headers: { cookie } })).json(), { id: 'u-2' })
}
