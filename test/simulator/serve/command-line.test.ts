// `serve` at the terminal: what it prints, where it listens, and the browser that --open opens.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { browserCommand } from '../../../lib/simulator/serve/open-browser.ts'
import { freePort } from '../../helpers/ports.ts'
import { program } from '../../helpers/program.ts'
import { simulator } from '../../helpers/serve.ts'
import { until } from '../../helpers/until.ts'

t.test('what the service needs: the portal is at 127.0.0.1 unless a flag says otherwise', async (t) => {
  const others = ['--public-url', 'https://portal.test', '--redirect-uri', 'http://localhost:1/cb']
  for (const [flags, own, callback, oneSite] of [
    [['--base-url', 'http://localhost:1'], 'http://127.0.0.1:PORT', undefined, false],
    [['--base-url', 'http://127.0.0.1:1'], 'http://127.0.0.1:PORT', undefined, true],
    [['--host', '::1'], 'http://[::1]:PORT', undefined, false],
    [['--host', '127.0.0.1'], 'http://127.0.0.1:PORT', undefined, false],
    [others, 'https://portal.test', 'http://localhost:1/cb', true]
  ] as const) {
    const env = { PORTAL_CLIENT_ID: 'from-env' }
    const { terminal, origin } = await simulator(t, { flags: [...flags], env })
    const { port } = new URL(origin)
    const portal = own.replace('PORT', port)
    const row = flags.join(' ')
    t.match(terminal.out, `The portal runs at ${portal}\n`, row)
    t.match(terminal.out, `login_url      ${portal}/external-oauth/local\n  client_id      from-env\n`, row)
    t.match(terminal.out, `redirect_uri   ${callback ?? `${portal}/oauth/callback`}\n`, row)
    t.equal(terminal.out.includes('your service and this portal are one site'), oneSite, row)
    t.equal(terminal.err.includes('sign-ins come back only if it leads here'), callback !== undefined, row)
    if (own.includes('PORT')) t.equal((await fetch(portal)).status, 200, row)
  }
})

t.test('the terminal says at the start when the service does not respond', async (t) => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const { terminal } = await simulator(t, { baseUrl })
  await until(() => terminal.err !== '')
  const fix = 'Start the service, and check the base URL, its port and its path.'
  t.equal(terminal.err, `Nothing listens at ${baseUrl}. ${fix}\n`)
})

t.test('a port in use', async (t) => {
  const { origin } = await simulator(t)
  const argv = ['serve', '--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b']
  t.match(await program([...argv, '--port', new URL(origin).port]), {
    code: 2, err: /^The simulator cannot listen: .*EADDRINUSE.* Choose another address with --host or --port\.\n$/
  })
})

t.test('a callback at a page of the simulator', async (t) => {
  const argv = ['serve', '--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b']
  t.match(await program([...argv, '--redirect-uri', 'http://127.0.0.1:4180/']), {
    code: 2, err: /^The simulator cannot respond at http:\/\/127\.0\.0\.1:4180\/: .* Choose another --redirect-uri\.\n$/
  })
})

t.test('the command that opens a browser, with no shell in between', async (t) => {
  const url = 'http://localhost:4180'
  t.strictSame(browserCommand('darwin', url), ['open', [url]])
  t.strictSame(browserCommand('win32', url), ['rundll32', ['url.dll,FileProtocolHandler', url]])
  t.strictSame(browserCommand('linux', url), ['xdg-open', [url]])
})

const [OPENER] = browserCommand(process.platform, '')

/** A PATH whose only program is the one that opens a browser, with the given script; null: there is none. */
function pathWith (t: Test, script: string | null): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'open-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  if (script !== null) writeFileSync(join(folder, OPENER), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { PATH: folder, FOLDER: folder }
}

t.test('--open opens the start page, without the variables of the integration', async (t) => {
  const env = pathWith(t, 'printf "%s %s" "$*" "$PORTAL_CLIENT_SECRET" > "$FOLDER/opened"')
  // Whoever reads a named pipe waits for what is written to it.
  execFileSync('mkfifo', [`${env.FOLDER}/opened`])
  const { origin, terminal } = await simulator(t, { flags: ['--open'], env })
  t.equal(await readFile(`${env.FOLDER}/opened`, 'utf8'), `${origin} `)
  t.equal(terminal.err, '')
})

for (const [script, reason] of [[null, `spawn ${OPENER} ENOENT`], ['exit 3', `${OPENER} failed`]] as const) {
  t.test(`--open without success: ${reason}: one line, and the simulator runs`, async (t) => {
    const { origin, terminal } = await simulator(t, { flags: ['--open'], env: pathWith(t, script) })
    await until(() => terminal.err !== '')
    t.equal(terminal.err, `The browser could not be opened (${reason}). Open ${origin} yourself.\n`)
    t.equal((await fetch(origin)).status, 200)
  })
}
