// The program as it is started: a process of its own, ended by a signal.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort } from '../helpers/ports.ts'

const MAIN = fileURLToPath(new URL('../../lib/simulator/main.js', import.meta.url))

function start (argv: string[]) {
  const env = { ...process.env, PORTAL_CLIENT_SECRET: 'secret', PORTAL_CLIENT_ID: 'partner-123' }
  const child = spawn(process.execPath, [MAIN, ...argv], { env })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => { output.out += String(chunk) })
  child.stderr.on('data', (chunk) => { output.err += String(chunk) })
  return { child, output }
}

t.test('check without a service: a sentence and code 2', async (t) => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const { child, output } = start(['check', '--base-url', baseUrl, '--redirect-uri', 'http://localhost/cb'])
  const [code] = await once(child, 'close')
  t.match({ code, ...output }, { code: 2, out: '', err: /^Nothing listens at/ })
})

t.test('a reader that closes the output ends the program silently; another write error is printed', async (t) => {
  for (const [argv, stream] of [['--help', 'stdout'], ['dance', 'stderr']] as const) {
    const { child, output } = start([argv])
    child[stream].destroy()
    const [code] = await once(child, 'close')
    t.strictSame([code, output], [2, { out: '', err: '' }], stream)
  }
  const stdio = ['ignore', openSync(MAIN, 'r'), 'pipe'] as const
  const unwritable = spawnSync(process.execPath, [MAIN, '--help'], { stdio: [...stdio], encoding: 'utf8' })
  t.match(unwritable, { status: 2, stderr: /^EBADF: .*\n$/ })
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`serve ends with ${signal}`, async (t) => {
    const port = String(await freePort())
    const { child, output } = start(['serve', '--base-url', 'http://127.0.0.1:1', '--port', port])
    await once(child.stdout, 'data')
    child.kill(signal)
    const [code] = await once(child, 'close')
    t.match([code, output.out], [0, `The portal runs at http://127.0.0.1:${port}\n`])
  })
}
