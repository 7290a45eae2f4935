// The quick start of the README, as a new user has it: started by its command, logged in to by its own login, signed
// in to from the portal simulator, and checked. Its ports are replaced by free ones.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { browser } from '../helpers/browser.ts'
import { FOREIGN_URLS } from '../helpers/foreign-urls.ts'
import { freePort } from '../helpers/ports.ts'
import { prepared } from '../helpers/prepared.ts'
import { started } from '../helpers/started.ts'
import { mustRun } from './commands.js'
import { block, commands, readme, written } from './documents.ts'

const COOKIE_SECRET = 'the secret of the cookies, of 32 characters or more'
const PORTAL_CLIENT_SECRET = 'this-secret-is-only-for-tests'
const bin = join(process.cwd(), 'dist/simulator/main.js')

interface Ports { app: number, portal: number }

/** The text with this test's ports and program, and without opening a browser. */
function local (text: string, { app, portal }: Ports): string {
  return text.replaceAll('localhost:3000', `localhost:${app}`).replaceAll('127.0.0.1:4180', `127.0.0.1:${portal}`)
    .replaceAll(/npx fastify-partner-sso (\w+)/g, `${process.execPath} ${bin} $1 --timeout 60`)
    .replaceAll(' --open', ` --port ${portal}`)
}

/** A folder with the quick start, on free ports. */
async function copied (): Promise<{ directory: string, ports: Ports }> {
  const directory = await written(t)
  const ports = { app: await freePort(), portal: await freePort() }
  const text = await readFile(join(directory, 'quick-start.mjs'), 'utf8')
  await writeFile(join(directory, 'app.mjs'), local(text, ports))
  return { directory, ports }
}

const { directory, ports } = await prepared(copied)
const settings = { COOKIE_SECRET, PORTAL_CLIENT_SECRET, PORT: String(ports.app) }
await prepared(() =>
  started(t, [process.execPath, 'app.mjs'], settings, directory).printed(/Server listening at/))
const portalUrl = `http://127.0.0.1:${ports.portal}`
const baseUrl = `http://localhost:${ports.app}`
const redirectUri = `${portalUrl}/oauth/callback`

t.test('it does not start without its secrets', async (t) => {
  const starting = async (...variables: string[]) =>
    mustRun('env', ['PORT=0', ...variables, 'node', 'quick-start.mjs'], { cwd: directory })
  const secret = `PORTAL_CLIENT_SECRET=${PORTAL_CLIENT_SECRET}`
  await t.rejects(starting(secret), { message: /COOKIE_SECRET must have 32 characters/ })
  await t.rejects(starting(secret, 'COOKIE_SECRET=short'), { message: /COOKIE_SECRET must have 32 characters/ })
  await t.rejects(starting(`COOKIE_SECRET=${COOKIE_SECRET}`), { message: /clientSecret/ })
  t.notMatch(block('quick start'), /SECRET (?:\?\?|\|\|)|SECRET = '[^']/, 'there is no secret to copy')
})

t.test('its own login leads into the portal', async (t) => {
  const double = portal({
    baseUrl, clientId: 'partner-123', clientSecret: PORTAL_CLIENT_SECRET, redirectUri, timeout: 60_000
  })
  const ada = await double.signIn({ login: (page) => page.post({ user: 'ada' }) })
  t.match(ada, { ok: true, record: { external_id: 'u-1', email: 'ada@partner.example', type: 'partner' } })
  const bo = await double.signIn({ login: (page) => page.post({ user: 'bo' }) })
  t.match(bo, { ok: false, got: /access_denied/ }, 'who may not enter is denied')
  t.match(await double.signIn(), { ok: false, error: 'login_required' }, 'nobody enters without a login')
  const forged = await double.signIn({ cookies: { session: 'ada.c2lnbmF0dXJl' } })
  t.match(forged, { ok: false, error: 'login_required' }, 'nor with a session that was made up')
})

t.test('the login leads to the endpoint or to the portal, whatever return_to says', async (t) => {
  const logIn = async (query: string, user: string) => await fetch(`${baseUrl}/login${query}`, {
    method: 'POST', body: new URLSearchParams({ user }), redirect: 'manual'
  })
  for (const asked of FOREIGN_URLS) {
    const { status, headers } = await logIn(`?return_to=${encodeURIComponent(asked)}`, 'ada')
    t.equal(status, 303, asked)
    t.equal(headers.get('location'), `${portalUrl}/external-oauth/local`, JSON.stringify(asked))
  }
  const back = await logIn('?return_to=%2Foauth%2Fauthorize%3Fa%3Db%2520c', 'ada')
  t.equal(back.headers.get('location'), '/oauth/authorize?a=b%20c', 'the query stays as it is')
  t.match(back.headers.get('set-cookie'), /; HttpOnly; SameSite=Lax$/)
  for (const nobody of ['eve', '__proto__', '']) t.equal((await logIn('', nobody)).status, 400, nobody)
})

t.test('the command for the simulator plays the portal', async (t) => {
  const [exported, serve = ''] = commands(/sso serve/)
  t.equal(exported, `export PORTAL_CLIENT_SECRET=${PORTAL_CLIENT_SECRET}`)
  t.match(serve, / --open$/)
  await started(t, local(serve, ports).split(' '), { PORTAL_CLIENT_SECRET }, directory).printed(new RegExp(portalUrl))
  const visit = browser()
  const login = await visit(`${portalUrl}/external-oauth/local`)
  t.match(login.url, `http://localhost:${ports.app}/login?return_to=`)
  t.match(login.text, '<button name="user" value="ada">')
  const { url, text } = await visit(login.url, { user: 'ada' })
  t.equal(new URL(url).origin, portalUrl)
  t.match(text, /Ada Okafor/)
  t.match(text, /Partner Administrator/)
})

t.test('the command for the check passes', async (t) => {
  const [exported = '', check = ''] = commands(/sso check/)
  const report = mustRun('bash', ['-ec', `${exported}\n${local(check, ports)}`], { cwd: directory })
  t.match(report, /passed|pass/)
  t.match(readme, /^Exit code 0: .* 1: .* 2: /m)
})

t.test('the CI job checks it', async (t) => {
  const { directory, ports } = await copied()
  const job = block('ci')
  const [, script = ''] = /^ +- run: \|\n(.*)/ms.exec(job) ?? []
  const [, lines = ''] = /^ +env:\n(.*?)^ +steps:/ms.exec(job) ?? []
  const variables = [...lines.matchAll(/(\w+): (.+)/g)].map(([, name, value]) => `${name}=${value}`)
  t.equal(variables.length, 2)
  // The runner of GitHub ends what a step has started.
  const step = `trap 'kill $(jobs -p)' EXIT\n${local(script, ports)}`
  mustRun('env', [`PORT=${ports.app}`, ...variables, 'bash', '-e', '-c', step], { cwd: directory })
  const { summary, rules } = JSON.parse(await readFile(join(directory, 'check.json'), 'utf8'))
  t.equal(summary.failed, 0)
  t.ok(summary.passed > 20)
  t.ok(rules.length >= summary.passed)
})
