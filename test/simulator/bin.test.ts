// The program as it is started: a process of its own, ended by a signal.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort } from '../helpers/ports.ts'

const MAIN = fileURLToPath(new URL('../../lib/simulator/main.js', import.meta.url))

const CREDENTIALS = { PORTAL_CLIENT_SECRET: 'secret', PORTAL_CLIENT_ID: 'partner-123' }

function start (argv: string[]) {
  const env = { ...process.env, ...CREDENTIALS }
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

/** Runs the arguments at a terminal, and prints what the terminal shows. */
const AT_TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])'

t.test('the rule that is tried is shown where the errors go to a terminal, whatever the output does', async (t) => {
  const directory = t.testdir({})
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const command = `${process.execPath} ${MAIN} check --base-url ${baseUrl} --redirect-uri http://localhost/cb`
  const env = { ...process.env, ...CREDENTIALS }
  for (const [stream, isShown] of [['1', true], ['2', false]] as const) {
    const file = join(directory, stream)
    const args = ['-c', AT_TERMINAL, 'sh', '-c', `${command} ${stream}>${file}`]
    const { stdout } = spawnSync('python3', args, { env, encoding: 'utf8' })
    t.equal(/Trying rule 1/.test(stdout), isShown, `${stream}> a file: the terminal`)
    t.notMatch(readFileSync(file, 'utf8'), 'Trying rule', `${stream}> a file: the file`)
  }
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
