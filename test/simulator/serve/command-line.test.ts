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
import { asked, simulator } from './scene.ts'
import { until } from '../../helpers/until.ts'

t.test('what the service needs: the portal is at 127.0.0.1 unless a flag says otherwise', async (t) => {
  const callback = 'http://localhost:1/cb'
  for (const [flags, own, redirectUri] of [
    [[], 'http://127.0.0.1:PORT', 'http://127.0.0.1:PORT/oauth/callback'],
    [['--host', '::1'], 'http://[::1]:PORT', 'http://[::1]:PORT/oauth/callback'],
    [['--host', '127.0.0.1'], 'http://127.0.0.1:PORT', 'http://127.0.0.1:PORT/oauth/callback'],
    [['--host', '::'], 'http://127.0.0.1:PORT', 'http://127.0.0.1:PORT/oauth/callback'],
    [['--host', '0.0.0.0'], 'http://127.0.0.1:PORT', 'http://127.0.0.1:PORT/oauth/callback'],
    [['--public-url', 'https://portal.test', '--redirect-uri', callback], 'https://portal.test', callback]
  ] as const) {
    const env = { PORTAL_CLIENT_ID: 'from-env' }
    const { terminal, origin } = await simulator(t, { flags: [...flags], env })
    const { port } = new URL(origin)
    const portal = own.replace('PORT', port)
    const row = flags.join(' ')
    t.match(terminal.out, `The portal runs at ${portal}\n`, row)
    t.match(terminal.out, `login_url      ${portal}/external-oauth/local\n  client_id      from-env\n`, row)
    t.match(terminal.out, `redirect_uri   ${redirectUri.replace('PORT', port)}\n`, row)
    const isWarned = terminal.err.includes('sign-ins come back only if it leads here')
    t.equal(isWarned, redirectUri === callback, row)
    if (!own.includes('PORT')) continue
    const { headers } = await asked(portal, 'localhost:1')
    t.equal(headers.location, `${portal}/`, row)
  }
})

t.test('a port in use, a callback at a page of the simulator', async (t) => {
  const { origin } = await simulator(t)
  const argv = ['serve', '--base-url', 'http://localhost:1', '--client-id', 'a', '--client-secret', 'b']
  for (const [flags, reason] of [
    [['--port', new URL(origin).port], 'listen EADDRINUSE'],
    [['--redirect-uri', 'http://127.0.0.1:4180/'], 'Method \'GET\' already declared']
  ] as const) {
    const { code, err } = await program([...argv, ...flags])
    t.equal(code, 2, reason)
    t.match(err, `The simulator cannot start: ${reason}`, reason)
    t.match(err, /\. Choose another --host, --port or --redirect-uri\.\n$/, reason)
  }
})

t.test('the command that opens a browser, with no shell in between', async (t) => {
  const url = 'http://localhost:4180'
  t.strictSame(browserCommand('darwin', url), ['open', url])
  t.strictSame(browserCommand('win32', url), ['rundll32', 'url.dll,FileProtocolHandler', url])
  t.strictSame(browserCommand('linux', url), ['xdg-open', url])
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

for (const [script, reason] of [
  [null, `spawn ${OPENER} ENOENT`],
  ['exit 3', `${OPENER} failed`]
] as const) {
  t.test(`--open without success: ${reason}: one line, and the simulator runs`, async (t) => {
    const { origin, terminal } = await simulator(t, { flags: ['--open'], env: pathWith(t, script) })
    await until(() => terminal.err !== '')
    t.equal(terminal.err, `The browser could not be opened (${reason}). Open ${origin} yourself.\n`)
    const { status } = await fetch(origin)
    t.equal(status, 200)
  })
}
