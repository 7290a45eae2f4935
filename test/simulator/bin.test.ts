// The program as it is started: a process of its own, ended by a signal.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort } from '../helpers/ports.ts'

const MAIN = fileURLToPath(new URL('../../lib/simulator/main.js', import.meta.url))

function start (argv: string[], nodeFlags: string[] = []) {
  const settings = { PORTAL_CLIENT_SECRET: 'secret', PORTAL_CLIENT_ID: 'partner-123' }
  const env = { ...process.env, ...settings }
  const child = spawn(process.execPath, [...nodeFlags, MAIN, ...argv, '--timeout', '60'], { env })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => { output.out += String(chunk) })
  child.stderr.on('data', (chunk) => { output.err += String(chunk) })
  return { child, output }
}

await t.test('check without a service: a sentence and code 2, and progress on a terminal', async (t) => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  for (const [terminal, err] of [
    ['no', /^Nothing listens at/],
    ['stdout', /^\r.*1\/\d+ authorize[^]*Nothing listens at/],
    ['stderr', /^Nothing listens at/]
  ] as const) {
    const flags = terminal === 'no' ? [] : ['--import', `data:text/javascript,process.${terminal}.columns = 80`]
    const { child, output } = start(['check', '--base-url', baseUrl, '--redirect-uri', 'http://localhost/cb'], flags)
    const [code] = await once(child, 'close')
    t.match({ code, ...output }, { code: 2, out: '', err }, terminal)
  }
})

await t.test('a reader that closes the output ends the program silently; another write error is printed', async (t) => {
  for (const [argv, stream] of [['--help', 'stdout'], ['dance', 'stderr']] as const) {
    const { child, output } = start([argv])
    child[stream].destroy()
    const [code] = await once(child, 'close')
    t.strictSame([code, output], [2, { out: '', err: '' }], stream)
  }
  const unwritable = spawnSync(process.execPath, [MAIN, '--help'], {
    stdio: ['ignore', openSync(MAIN, 'r'), 'pipe'], encoding: 'utf8'
  })
  t.match(unwritable, { status: 2, stderr: /^EBADF: .*\n$/ })
})

await t.test('serve ends with the signal', async (t) => {
  const port = await freePort()
  const { child, output } = start(['serve', '--base-url', 'http://127.0.0.1:1', '--port', String(port)])
  await once(child.stdout, 'data')
  t.equal((await fetch(`http://localhost:${port}/`)).status, 200)
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  t.match(output.out, `The portal runs at http://127.0.0.1:${port}\n`)
})
