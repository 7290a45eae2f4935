// The quick start of the README, as a new user has it: started by its command, logged in to by its own login, signed
// in to from the portal simulator, and checked. Its ports are replaced by free ones.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Browser } from '../helpers/browser.ts'
import { freePort } from '../helpers/ports.ts'
import { prepared } from '../helpers/prepared.ts'
import { started } from '../helpers/started.ts'
import { mustRun } from './commands.js'
import { commands, readme, written } from './documents.ts'

const COOKIE_SECRET = 'the secret of the cookies, of 32 characters or more'
const PORTAL_CLIENT_SECRET = 'this-secret-is-only-for-tests'
const bin = join(process.cwd(), 'dist/simulator/main.js')

interface Ports { app: number, portal: number }

/** The text with this test's ports and program, and without opening a browser. */
function local (text: string, { app, portal }: Ports): string {
  return text
    .replaceAll('localhost:3000', `localhost:${app}`)
    .replaceAll('127.0.0.1:4180', `127.0.0.1:${portal}`)
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
const app = started(t, [process.execPath, 'app.mjs'], settings, directory)
await prepared(() => app.printed(/Server listening at/))
const portalUrl = `http://127.0.0.1:${ports.portal}`
const baseUrl = `http://localhost:${ports.app}`

t.test('it does not start without its secrets', async (t) => {
  const starting = (...variables: string[]) => () =>
    mustRun('env', ['PORT=0', ...variables, 'node', 'quick-start.mjs'], { cwd: directory })
  const secret = `PORTAL_CLIENT_SECRET=${PORTAL_CLIENT_SECRET}`
  t.throws(starting(secret, 'COOKIE_SECRET=short'), { message: /COOKIE_SECRET must have 32 characters/ })
  t.throws(starting(`COOKIE_SECRET=${COOKIE_SECRET}`), { message: /clientSecret/ })
})

t.test('what one should see after the start: a line that says where it listens, and no warning', async (t) => {
  const lines = app.output.out.trim().split('\n').map((line) => JSON.parse(line))
  t.match(lines[0], { level: 30, msg: /^Server listening at / })
  t.strictSame(lines.filter(({ level }) => level > 30), [])
  t.equal(app.output.err, '')
})

t.test('a form of another site logs nobody in', async (t) => {
  const rows = [['cross-site', 403], ['same-site', 403], ['same-origin', 303], ['none', 303]] as const
  for (const [site, status] of rows) {
    const headers = { 'sec-fetch-site': site }
    const body = new URLSearchParams({ user: 'ada' })
    const response = await fetch(`${baseUrl}/login`, { method: 'POST', headers, body, redirect: 'manual' })
    t.equal(response.status, status, site)
    t.equal(response.headers.has('set-cookie'), status === 303, site)
  }
})

t.test('an ordinary login leads to the portal, whatever its return_to; who is no user gets none', async (t) => {
  const logIn = async (user: string) => await fetch(`${baseUrl}/login?return_to=https%3A%2F%2Fevil.example`, {
    method: 'POST',
    body: new URLSearchParams({ user }),
    redirect: 'manual'
  })
  const { headers } = await logIn('ada')
  t.equal(headers.get('location'), `${portalUrl}/external-oauth/local`)
  t.match(headers.get('set-cookie'), /; HttpOnly; SameSite=Lax$/)
  for (const nobody of ['eve', '__proto__', '']) t.equal((await logIn(nobody)).status, 400, nobody)
})

t.test('the command for the simulator plays the portal', async (t) => {
  const [exported, serve = ''] = commands(/sso serve/)
  t.equal(exported, `export PORTAL_CLIENT_SECRET=${PORTAL_CLIENT_SECRET}`)
  const simulator = started(t, local(serve, ports).split(' '), { PORTAL_CLIENT_SECRET }, directory)
  await simulator.printed(new RegExp(portalUrl))
  const browser = new Browser()
  const login = await browser.open(`${portalUrl}/external-oauth/local`)
  t.match(login.url, `http://localhost:${ports.app}/login?return_to=`)
  t.match((await browser.submit(login.url, { user: 'ada' })).text, 'Ada Okafor is signed in')
})

t.test('the command for the check passes', async (t) => {
  const [exported = '', check = ''] = commands(/sso check/)
  const report = mustRun('bash', ['-ec', `${exported}\n${local(check, ports)}`], { cwd: directory })
  t.match(report, /^pass /m)
  const [, summary = ''] = /`(\d+ pass, .+?\.)`/.exec(readme) ?? []
  t.match(report, new RegExp(`^${summary}$`, 'm'), 'as the page says')
})
