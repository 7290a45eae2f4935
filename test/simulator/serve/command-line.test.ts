// `serve` at the terminal: what it prints, where it listens, and the browser that --open opens.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { browserCommand } from '../../../lib/simulator/serve/open-browser.ts'
import { program } from '../../helpers/program.ts'
import { freePort } from '../../helpers/ports.ts'
import { CLIENT_SECRET, RECORDS } from '../../helpers/partner.ts'
import { respond, sendingBack } from '../../helpers/responses.ts'
import { logIn, simulator, start } from '../../helpers/serve.ts'
import { until } from '../../helpers/until.ts'

await t.test('the terminal says what the service needs', async (t) => {
  const { terminal, origin } = await simulator(t)
  t.match(terminal.out, `login_url      ${origin}/external-oauth/local`)
  t.match(terminal.out, `redirect_uri   ${origin}/oauth/callback`)
  t.notMatch(terminal.out, CLIENT_SECRET)
  t.equal(terminal.err, '')
  const other = await simulator(t, { flags: ['--redirect-uri', 'http://localhost:1/oauth/callback'] })
  t.match(other.terminal.err, 'sign-ins come back only if it leads here')
})

await t.test('flags say how the portal asks', async (t) => {
  for (const [flags, shown] of [[[], []], [['--basic'], ['Basic ••••']], [['--pkce'], ['code_verifier']]] as const) {
    const { browser, origin } = await simulator(t, { flags: [...flags] })
    const { text } = await browser.signIn(start(origin))
    t.strictSame([...new Set(text.match(/Basic ••••|code_verifier/g))], shown, flags.join(' '))
  }
})

await t.test('the environment gives the URL, the id and the secret', async (t) => {
  const env = { PORTAL_BASE_URL: 'http://localhost:1', PORTAL_CLIENT_ID: 'from-env', PORTAL_CLIENT_SECRET: 'x' }
  const { terminal } = await simulator(t, { env })
  t.match(terminal.out, 'client_id      from-env\n')
  t.match(terminal.out, 'It calls http://localhost:1/oauth/authorize,')
  t.match(terminal.out, 'The portal runs at http://127.0.0.1:', 'another site than the service')
})

await t.test('each sign-in that ends is a line: how long the service took, who, and why not', async (t) => {
  const { terminal, browser, origin } = await simulator(t)
  const lines = (): string[] => String(terminal.out.split('Press Ctrl-C to stop.\n\n')[1]).trim().split('\n')
  await browser.signIn(start(origin))
  t.match(lines()[0], /^\d\d:\d\d:\d\d +\d+ ms {2}Ada Lovelace is signed in \(u-1\)$/)
  logIn(browser, 'eve')
  await browser.signIn(start(origin))
  t.match(lines()[1], /^\d\d:\d\d:\d\d +0 ms {2}The sign-in stopped at step 5: the error access_denied/)
  await browser.signIn(start(origin, 'foreign-redirect-uri'))
  t.match(lines()[2], /^\d\d:\d\d:\d\d +\d+ ms {2}Foreign redirect_uri: Rejected, as it should be$/)
  t.equal(lines().length, 3)
  t.notMatch(terminal.out, /[\w-]{43}/, 'no code, no token')
})

await t.test('what a service says is escaped in the terminal', async (t) => {
  const hostile = '\x1b]0;title\x07'
  for (const [status, record] of [[500, { message: hostile }], [200, { ...RECORDS.ada, name: hostile }]] as const) {
    const baseUrl = await sendingBack(t, (path, response) => {
      if (path === '/oauth/token') return respond(response, 200, { token_type: 'Bearer', access_token: 'the-token' })
      return respond(response, status, record)
    })
    const { terminal, browser, origin } = await simulator(t, { baseUrl })
    await browser.signIn(start(origin))
    t.match(terminal.out, '\\u001b]0;title\\u0007', String(status))
    t.notMatch(terminal.out, '\x1b', String(status))
  }
})

await t.test('the terminal says at the start when the service does not respond', async (t) => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const { terminal } = await simulator(t, { baseUrl })
  await until(() => terminal.err !== '')
  const fix = 'Start the service, and check the base URL, its port and its path.'
  t.equal(terminal.err, `Nothing listens at ${baseUrl}. ${fix}\n`)
})

await t.test('the portal is at 127.0.0.1, as the README registers it, wherever the service is', async (t) => {
  for (const service of ['localhost', 'app.localhost', '127.0.0.1', '[::1]', 'partner.example']) {
    const { terminal, origin } = await simulator(t, { flags: ['--base-url', `http://${service}:1`] })
    t.match(terminal.out, `The portal runs at ${origin}\n`, service)
    t.match(terminal.out, `redirect_uri   http://127.0.0.1:${new URL(origin).port}/oauth/callback\n`, service)
    const isOneSite = service === '127.0.0.1'
    t.equal(terminal.out.includes('your service and this portal are one site'), isOneSite, service)
  }
  const { terminal } = await simulator(t, { host: '127.0.0.1', flags: ['--public-url', 'http://localhost:1'] })
  t.notMatch(terminal.out, 'one site')
})

await t.test('an IPv6 address', async (t) => {
  const { terminal, origin } = await simulator(t, { flags: ['--host', '::1'] })
  const { port } = new URL(origin)
  t.match(terminal.out, `The portal runs at http://[::1]:${port}\n`)
  t.equal((await fetch(`http://[::1]:${port}/`)).status, 200)
})

await t.test('a port in use, an address that is not ours', async (t) => {
  const { origin } = await simulator(t)
  const argv = ['serve', '--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b']
  t.match(await program([...argv, '--port', new URL(origin).port]), {
    code: 2, err: /^The simulator cannot listen: .*EADDRINUSE.* Choose another address with --host or --port\.\n$/
  })
  t.match(await program([...argv, '--host', '203.0.113.1', '--port', String(await freePort())]), {
    code: 2, err: /cannot listen: .*203\.0\.113\.1/
  })
})

await t.test('behind https and under a public name', async (t) => {
  const flags = ['--public-url', 'https://portal.test', '--redirect-uri', 'https://portal.test/cb']
  const { browser, origin, terminal } = await simulator(t, { flags })
  t.match(terminal.out, 'login_url      https://portal.test/external-oauth/local')
  const response = await fetch(`${origin}/external-oauth/local`, { redirect: 'manual' })
  t.equal(response.headers.get('location'), 'https://portal.test/external-oauth/local')
  t.equal((await browser.open(`${origin}/cb`)).status, 400)
})

await t.test('an address with characters that the router reads in its own way', async (t) => {
  for (const credentials of ['a b', 'caf\u00e9', 'a:b', '100%']) {
    const { terminal } = await simulator(t, { flags: ['--credentials', credentials] })
    const [, url = ''] = /login_url +(.*)/.exec(terminal.out) ?? []
    t.equal((await fetch(url, { redirect: 'manual' })).status, 302, url)
  }
  for (const path of ['/call%20back', '/:id', '/sign-ins/:id']) {
    const flags = ['--public-url', 'https://portal.test', '--redirect-uri', `https://portal.test${path}`]
    const { browser, origin } = await simulator(t, { flags })
    t.equal((await browser.open(origin + path)).status, 400, path)
    t.equal((await browser.open(`${origin}/sign-ins/other`)).status, 404, path)
  }
})

await t.test('the command that opens a browser, with no shell in between', (t) => {
  const url = 'http://localhost:4180'
  t.strictSame(browserCommand('darwin', url), ['open', [url]])
  t.strictSame(browserCommand('win32', url), ['rundll32', ['url.dll,FileProtocolHandler', url]])
  t.strictSame(browserCommand('linux', url), ['xdg-open', [url]])
  t.end()
})

const [OPENER] = browserCommand(process.platform, '')

/** A PATH whose only program is the one that opens a browser, with the given script; null: there is none. */
function pathWith (t: Test, script: string | null): { opened: string, env: Record<string, string> } {
  const folder = mkdtempSync(join(tmpdir(), 'open-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  if (script !== null) writeFileSync(join(folder, OPENER), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { opened: join(folder, 'opened'), env: { PATH: folder, FOLDER: folder } }
}

await t.test('--open opens the start page', async (t) => {
  const { opened, env } = pathWith(t, 'printf %s "$*" > "$FOLDER/opened"')
  // Whoever reads a named pipe waits for what is written to it.
  execFileSync('mkfifo', [opened])
  const { origin, terminal } = await simulator(t, { flags: ['--open'], env })
  t.equal(await readFile(opened, 'utf8'), origin)
  t.match(terminal.out, 'The portal runs at')
  t.equal(terminal.err, '')
})

for (const [name, script, reason] of [
  ['no program', null, `spawn ${OPENER} ENOENT`], ['one that fails', 'exit 3', `${OPENER} failed`]
] as const) {
  await t.test(`--open with ${name}: one line, and the simulator runs`, async (t) => {
    const { origin, browser, terminal } = await simulator(t, { flags: ['--open'], env: pathWith(t, script).env })
    await until(() => terminal.err !== '')
    t.equal(terminal.err, `The browser could not be opened (${reason}). Open ${origin} yourself.\n`)
    t.equal((await browser.open(origin)).status, 200)
  })
}
