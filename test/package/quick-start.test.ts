// The quick start of the README, as a new user has it: started by its command, logged in to by its own login, signed
// in to from the portal simulator, and checked. Its ports are replaced by free ones.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { freePort } from '../helpers/ports.ts'
import { block, commands, readme, written } from './documents.ts'
import { run } from './packed.ts'

const COOKIE_SECRET = 'the secret of the cookies, of 32 characters or more'
const PORTAL_CLIENT_SECRET = 'only-for-tests'
const bin = join(process.cwd(), 'dist/simulator/main.js')

interface Ports { app: number, portal: number }

/** The text with this test's ports and program, and without opening a browser. */
function local (text: string, { app, portal }: Ports): string {
  return text.replaceAll('localhost:3000', `localhost:${app}`).replaceAll('127.0.0.1:4180', `127.0.0.1:${portal}`)
    .replaceAll('npx partner-sso-portal', `${process.execPath} ${bin}`).replaceAll(' --open', '')
}

interface QuickStart { directory: string, ports: Ports, baseUrl: string, portalUrl: string, redirectUri: string }

function start (t: Test, command: string[], directory: string, settings: Record<string, string>): ChildProcess {
  const { NODE_OPTIONS, REDIS_URL, ...env } = process.env
  const [program = '', ...args] = command
  const options = { cwd: directory, env: { ...env, ...settings } }
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr.resume()
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exited
  })
  return child
}

/** Waits for a line of its output. */
async function printed (child: ChildProcess, pattern: RegExp): Promise<void> {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if (!pattern.test(line)) continue
    child.stdout?.resume()
    return
  }
  throw new Error(`It ended without ${pattern}`)
}

async function quickStart (t: Test): Promise<QuickStart> {
  const directory = await written(t)
  const ports = { app: await freePort(), portal: await freePort() }
  const file = join(directory, 'app.mjs')
  await writeFile(file, local(await readFile(join(directory, 'quick-start.mjs'), 'utf8'), ports))
  const settings = { COOKIE_SECRET, PORTAL_CLIENT_SECRET, PORT: String(ports.app) }
  await printed(start(t, [process.execPath, 'app.mjs'], directory, settings), /Server listening at/)
  const portalUrl = `http://127.0.0.1:${ports.portal}`
  const baseUrl = `http://localhost:${ports.app}`
  return { directory, ports, baseUrl, portalUrl, redirectUri: `${portalUrl}/oauth/callback` }
}

t.test('it does not start without its secrets', async (t) => {
  const directory = await written(t)
  const started = async (...variables: string[]) =>
    await run(directory, 'env', 'PORT=0', ...variables, 'node', 'quick-start.mjs')
  const secret = `PORTAL_CLIENT_SECRET=${PORTAL_CLIENT_SECRET}`
  await t.rejects(started(secret), { message: /COOKIE_SECRET must have 32 characters/ })
  await t.rejects(started(secret, 'COOKIE_SECRET=short'), { message: /COOKIE_SECRET must have 32 characters/ })
  await t.rejects(started(`COOKIE_SECRET=${COOKIE_SECRET}`), { message: /clientSecret/ })
  t.notMatch(block('quick start'), /SECRET (?:\?\?|\|\|)|SECRET = '[^']/, 'there is no secret to copy')
})

t.test('its own login leads into the portal', async (t) => {
  const { baseUrl, redirectUri } = await quickStart(t)
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

t.test('return_to stays on the site', async (t) => {
  const { baseUrl } = await quickStart(t)
  const logIn = async (query: string, user: string) => await fetch(`${baseUrl}/login${query}`, {
    method: 'POST', body: new URLSearchParams({ user }), redirect: 'manual'
  })
  for (const asked of [
    'https://evil.example/', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example',
    '\\/evil.example', 'https:evil.example', 'javascript:alert(1)', 'data:text/html,x', '\t//evil.example',
    '/\t/evil.example', ' https://evil.example', 'http://site.invalid//evil.example',
    'http://site.invalid@evil.example', '/.//evil.example', ''
  ]) {
    const { status, headers } = await logIn(`?return_to=${encodeURIComponent(asked)}`, 'ada')
    t.equal(status, 303)
    t.equal(new URL(headers.get('location') ?? '', `${baseUrl}/login`).origin, baseUrl, JSON.stringify(asked))
  }
  const twice = await logIn('?return_to=//evil.example&return_to=//evil.example', 'ada')
  t.equal(new URL(twice.headers.get('location') ?? '', `${baseUrl}/login`).origin, baseUrl, 'repeated')
  const back = await logIn('?return_to=%2Foauth%2Fauthorize%3Fa%3Db%2520c', 'ada')
  t.equal(back.headers.get('location'), '/oauth/authorize?a=b%20c', 'a page of the site stays as it is')
  t.match(back.headers.get('set-cookie'), /; HttpOnly; SameSite=Lax$/)
  for (const nobody of ['eve', '__proto__', '']) t.equal((await logIn('', nobody)).status, 400, nobody)
})

/** A browser that keeps cookies for each host name, follows redirects, and reloads a sign-in until it has ended. */
function browser (): (url: string, form?: Record<string, string>) => Promise<{ url: string, text: string }> {
  const jar = new Map<string, Map<string, string>>()
  const visit = async (url: string, form?: Record<string, string>): Promise<{ url: string, text: string }> => {
    const { hostname } = new URL(url)
    const cookies = jar.get(hostname) ?? new Map<string, string>()
    jar.set(hostname, cookies)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const body = form && { method: 'POST', body: new URLSearchParams(form) }
    const response = await fetch(url, { ...body, redirect: 'manual', headers: { cookie, accept: 'text/html' } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location !== null) return await visit(new URL(location, url).href)
    const text = await response.text()
    if (!text.includes('data-ended="false"')) return { url, text }
    await wait(100)
    return await visit(url)
  }
  return visit
}

t.test('the command for the simulator plays the portal', async (t) => {
  const { directory, ports, portalUrl } = await quickStart(t)
  const [exported, serve = ''] = commands(/portal serve/)
  t.equal(exported, `export PORTAL_CLIENT_SECRET=${PORTAL_CLIENT_SECRET}`)
  t.match(serve, / --open$/)
  const settings = { PORTAL_CLIENT_SECRET, PORTAL_PORT: String(ports.portal), PORTAL_TIMEOUT: '60' }
  const child = start(t, local(serve, ports).split(' '), directory, settings)
  await printed(child, new RegExp(portalUrl))
  const visit = browser()
  const login = await visit(`${portalUrl}/external-oauth/local`)
  t.match(login.url, `http://localhost:${ports.app}/login?return_to=`)
  t.match(login.text, '<button name="user" value="ada">')
  const { url, text } = await visit(login.url, { user: 'ada' })
  t.equal(new URL(url).origin, portalUrl)
  t.match(text, /Ada Okafor/)
  t.match(text, /Partner Read Only/)
})

t.test('the command for the check passes', async (t) => {
  const { directory, ports } = await quickStart(t)
  const [exported = '', check = ''] = commands(/portal check/)
  const report = await run(directory, 'env', 'PORTAL_TIMEOUT=60', 'bash', '-ec', `${exported}\n${local(check, ports)}`)
  t.match(report, /passed|pass/)
  const described = /^\| 0 \| .*\n\| 1 \| .*\n\| 2 \| /m
  t.match(readme, described)
})

t.test('the CI job checks it', async (t) => {
  const directory = await written(t)
  const ports = { app: await freePort(), portal: await freePort() }
  await writeFile(join(directory, 'app.mjs'), local(await readFile(join(directory, 'quick-start.mjs'), 'utf8'), ports))
  const job = block('ci')
  const [, script = ''] = /^ +- run: \|\n(.*)/ms.exec(job) ?? []
  const [, lines = ''] = /^ +env:\n(.*?)^ +steps:/ms.exec(job) ?? []
  const variables = [...lines.matchAll(/(\w+): (.+)/g)].map(([, name, value]) => `${name}=${value}`)
  t.equal(variables.length, 2)
  // The runner of GitHub ends what a step has started.
  const step = `trap 'kill $(jobs -p)' EXIT\n${local(script, ports)}`
  const settings = [`PORT=${ports.app}`, 'PORTAL_TIMEOUT=60', ...variables]
  await run(directory, 'env', ...settings, 'bash', '-e', '-c', step)
  const { summary, rules } = JSON.parse(await readFile(join(directory, 'check.json'), 'utf8'))
  t.equal(summary.failed, 0)
  t.ok(summary.passed > 20)
  t.ok(rules.length >= summary.passed)
})
