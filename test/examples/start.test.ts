// `npm start` as a newcomer runs it: both addresses, a sign-in, a port in use, and a build only where one is needed.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { browser } from '../helpers/browser.ts'
import { listen } from '../helpers/listen.ts'
import { freePort } from '../helpers/ports.ts'
import { started } from '../helpers/started.ts'
import type { Started } from '../helpers/started.ts'

const EXAMPLES = join(process.cwd(), 'examples')

const start = (t: Test, env: Record<string, string>): Started =>
  started(t, [process.execPath, join(EXAMPLES, 'dist/start.js')], env)

await t.test('two addresses on two sites, and a sign-in between them', async (t) => {
  const [port, portalPort] = [await freePort(), await freePort()]
  const settings = { PORT: String(port), PORTAL_PORT: String(portalPort), PORTAL_TIMEOUT: '60' }
  const { child, output, printed } = start(t, settings)
  await printed(/Press Ctrl-C/)
  const lines = output.out.split('\n')
  t.strictSame(lines.filter((line) => line.includes(`:${portalPort}`)), [
    `The portal                 http://127.0.0.1:${portalPort}`
  ], 'one line names the portal')
  t.ok(lines.includes(`The partner's application  http://localhost:${port}`))
  t.match(output.out, /^\[\d\d:\d\d:\d\d\] (?:INFO|WARN): /m, 'the log is for people')
  const visit = browser()
  const home = await visit(`http://localhost:${port}/login`, { user: 'u-1' })
  t.match(home.text, 'Good day, Ada Okafor')
  t.match((await visit(`http://127.0.0.1:${portalPort}/external-oauth/demo`)).text, 'Ada Okafor is signed in')
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  t.match(output.out, /POST \/oauth\/token\n/)
  t.notMatch(output.out, 'code=', 'the log has no query')
})

await t.test('a port in use, or none: one line with the variable to set, and exit code 1', async (t) => {
  const port = await listen(t, createServer(), 'localhost')
  const free = String(await freePort())
  for (const [variable, other] of [['PORT', 'PORTAL_PORT'], ['PORTAL_PORT', 'PORT']] as const) {
    const inUse = start(t, { [variable]: String(port), [other]: free })
    t.strictSame(await once(inUse.child, 'close'), [1, null], variable)
    t.strictSame(inUse.output, {
      out: '', err: `Port ${port} is in use. Choose another one: ${variable}=${port + 100} npm start\n`
    }, variable)
    const wrong = start(t, { [variable]: 'abc', [other]: free })
    t.strictSame(await once(wrong.child, 'close'), [1, null], variable)
    t.strictSame(wrong.output, { out: '', err: `${variable} must be a port number, not abc.\n` }, variable)
  }
})

/** A project with the script alone, and programs in place of npm and npx that leave what the real ones leave. */
function project (t: Test): { folder: string, ready: () => { status: number | null, out: string, ran: string } } {
  const folder = mkdtempSync(join(tmpdir(), 'ready-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  for (const name of ['bin', 'lib', 'examples']) mkdirSync(join(folder, name))
  cpSync(join(EXAMPLES, 'ready.js'), join(folder, 'examples/ready.js'))
  for (const name of ['package.json', 'tsconfig.json', 'lib/a.ts', 'lib/b.ts']) writeFileSync(join(folder, name), '{}')
  const script = (name: string, lines: string[]): void => {
    const text = ['#!/bin/sh', 'cd "$PROJECT"', `echo "${name} $*" >> ran`, ...lines, ''].join('\n')
    writeFileSync(join(folder, 'bin', name), text, { mode: 0o755 })
  }
  script('npm', [
    'if [ "$1" = ci ]; then mkdir -p node_modules; touch node_modules/.package-lock.json; exit; fi',
    '[ -e broken ] && exit 1',
    'mkdir -p dist/simulator; touch dist/index.js dist/simulator/main.js'
  ])
  script('npx', ['mkdir -p examples/dist'])
  return {
    folder,
    ready () {
      const PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`
      const env = { ...process.env, PROJECT: folder, PATH }
      rmSync(join(folder, 'ran'), { force: true })
      const { status, stdout } = spawnSync(process.execPath, [join(folder, 'examples/ready.js')], { env })
      const ran = existsSync(join(folder, 'ran')) ? readFileSync(join(folder, 'ran'), 'utf8') : ''
      return { status, out: String(stdout), ran }
    }
  }
}

const BUILD = 'npm run --silent build\nnpx tsc -p examples\n'

await t.test('what is missing is installed and built first, with a word on each', async (t) => {
  const { ready } = project(t)
  t.strictSame(ready(), {
    status: 0,
    out: 'Installing the dependencies (once, up to a minute) …\n' +
      'Building the package (after each change of its source) …\nBuilding the examples …\n',
    ran: `npm ci --no-audit --no-fund --loglevel=error\n${BUILD}`
  })
  t.strictSame(ready(), { status: 0, out: '', ran: '' }, 'the second time nothing is done')
})

await t.test('a changed, a new or a removed source is built again', async (t) => {
  const { folder, ready } = project(t)
  ready()
  /** As if the file or folder were changed after the last build. */
  const touch = (path: string): void => {
    const later = statSync(join(folder, 'examples/dist/.built')).mtimeMs / 1000 + 1
    utimesSync(join(folder, path), later, later)
  }
  for (const change of [
    () => { rmSync(join(folder, 'dist'), { recursive: true }) },
    () => { touch('lib/a.ts') },
    () => {
      utimesSync(join(folder, 'lib/a.ts'), 0, 0)
      rmSync(join(folder, 'lib/b.ts'))
      touch('lib')
    }
  ]) {
    change()
    t.equal(ready().ran, BUILD, String(change))
  }
})

await t.test('a build that fails is tried again', async (t) => {
  const { folder, ready } = project(t)
  writeFileSync(join(folder, 'broken'), '')
  t.equal(ready().status, 1)
  rmSync(join(folder, 'broken'))
  t.match(ready(), { status: 0, ran: BUILD })
})
