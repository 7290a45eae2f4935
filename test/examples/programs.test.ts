// The examples out of the packed tarball: in an empty folder, installed and compiled by the words of their page, each
// started by the command that its first lines name. Ada comes from its portal, logs in, and enters.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { addIntegration } from '../../examples/portals-from-table.ts'
import { browser } from '../helpers/browser.ts'
import { openidProvider } from '../helpers/identity-provider.ts'
import { freePort } from '../helpers/ports.ts'
import { startPostgres } from '../helpers/postgres.ts'
import { prepared } from '../helpers/prepared.ts'
import { started } from '../helpers/started.ts'
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

const SECRET = 'a secret of this test'
const database = await prepared(() => startPostgres(t))

interface Example {
  app: string
  /** Where a sign-in begins, and where it comes back to. */
  loginUrl: string
  redirectUri: string
  visit: ReturnType<typeof browser>
}

type Start = (more?: NodeJS.ProcessEnv) => Promise<Example>

/** Starts an example, and waits for the lines that say where the app and the portal are. */
async function start (t: Test, command: string, more: NodeJS.ProcessEnv = {}): Promise<Example> {
  const ports = { PORT: String(await freePort()), PORTAL_PORT: String(await freePort()) }
  const env = {
    ...ports,
    PORTAL_CLIENT_SECRET: SECRET,
    PORTAL_TIMEOUT: '60',
    DATABASE_URL: database.url,
    NOTICE: '0',
    ...more
  }
  const { output, printed } = started(t, [process.execPath, ...`examples/dist/${command}`.split(' ')], env, cwd)
  await printed(/^The portal: /m)
  const [, app = '', portal = ''] = /^The app: +(\S+)\nThe portal: (\S+)$/m.exec(output.out) ?? []
  const loginUrl = `${portal}/external-oauth/demo`
  return { app, loginUrl, redirectUri: `${portal}/oauth/callback`, visit: browser() }
}

/** From the portal to the login, and back. */
async function enters (t: Test, start: Start): Promise<Example> {
  const example = await start()
  const login = await example.visit(example.loginUrl)
  t.match((await example.visit(login.url, { user: 'u-1' })).text, 'Ada Okafor is signed in')
  return example
}

/** From the portal to the login of a client in the browser. */
const isLedTo = (path: string) => async (t: Test, start: Start) => {
  const { app, loginUrl, visit } = await start()
  t.match((await visit(loginUrl)).url, `${app}${path}?return_to=`)
}

/**
 * A logout ends the session also for whoever has kept its cookie; a page of another site logs nobody out or in, and
 * `return_to` leads to no other site.
 */
async function keepsSessions (t: Test, { app }: Example): Promise<void> {
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
    t.equal((await post(path, { cookie, 'sec-fetch-site': 'cross-site' })).status, 403, path)
  }
  await post('/logout', { cookie })
  t.notMatch(await (await fetch(app, { headers: { cookie } })).text(), 'Ada Okafor')
}

/** By what follows `node examples/dist/` in the commands of the examples. */
const programs: Record<string, (t: Test, start: Start) => Promise<unknown>> = {
  'express.js': async (t, start) => await keepsSessions(t, await enters(t, start)),
  'demo.js own-pages': enters,
  'logins/start.js form': enters,
  'logins/start.js cookie-path': enters,
  'logins/start.js single-page': isLedTo('/app/login'),
  'logins/start.js bearer': isLedTo('/enter'),

  async 'logins/start.js federated' (t, start) {
    const PORT = String(await freePort())
    const OIDC_ISSUER = await openidProvider(t, `http://localhost:${PORT}/login/callback`, SECRET)
    await enters(t, async () => await start({
      PORT,
      OIDC_ISSUER,
      OIDC_CLIENT_ID: 'acme',
      OIDC_CLIENT_SECRET: SECRET
    }))
  },

  async 'nest/main.js' (t, start) {
    const example = await enters(t, start)
    await keepsSessions(t, example)
    t.equal((await example.visit(`${example.app}/ready`)).text, '{"ready":true}')
    t.match((await example.visit(`${example.app}/account`)).text, '"id":"u-1"')
    t.equal((await fetch(`${example.app}/account`)).status, 403, 'the guard is on controllers')
  },

  async 'demo.js prometheus' (t, start) {
    const { app, visit } = await enters(t, start)
    t.match((await visit(`${app}/metrics`)).text, /type="user_information_returned",.+ 1$/m)
  },

  async 'demo.js postgres-store' (t, start) {
    const { loginUrl, visit } = await enters(t, start)
    await database.stop()
    t.notMatch((await visit(loginUrl)).text, 'Ada Okafor is signed in', 'the store is in the database')
    await database.restart()
    // A request may still get a connection that the server has ended.
    while (!(await visit(loginUrl)).text.includes('Ada Okafor is signed in'));
  },

  async 'demo.js portals-from-table' (t, start) {
    const { loginUrl, redirectUri, visit } = await enters(t, start)
    const signsIn = async () => (await visit(loginUrl)).text.includes('Ada Okafor is signed in')
    const add = async () => await addIntegration(database.pool, {
      loginUrl,
      clientId: 'acme-payments',
      clientSecret: SECRET,
      redirectUri
    })
    await database.pool.query('DELETE FROM integrations')
    t.notOk(await signsIn(), 'not in the table')
    await add()
    t.ok(await signsIn(), 'added while the app runs')
    await database.pool.query('UPDATE integrations SET enabled = false')
    await add()
    t.notOk(await signsIn(), 'a changed integration that is turned off stays off')
  }
}

for (const [command, test] of Object.entries(programs)) {
  t.test(command, async (t) => await test(t, async (more) => await start(t, command, more)))
}

t.test('each example that names a command is here', async (t) => {
  const sources = readdirSync(join(cwd, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!dist).*\.ts$/.test(file))
    .map((file) => readFileSync(join(cwd, 'examples', file), 'utf8'))
  const named = [...sources.join('').matchAll(/^\/\/.* node examples\/dist\/(\S+)(.*)$/gm)]
    .flatMap(([, program = '', names = '']) => names.split('|').map((name) => `${program} ${name.trim()}`.trim()))
  t.strictSame([...new Set(named)].sort(), Object.keys(programs).sort())
})
