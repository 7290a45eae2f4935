// Runs some tests as fast as they can be known: compiles, and runs a file or a folder by Node itself, without tap's
// runner and its coverage.
//
//   npm run only test/unit/pkce.test.ts [test/attacks ...]
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { relative } from 'node:path'
import t from 'tap'
import { compile } from './compile.js'
import { report } from './reporter.js'

/** Seconds of a process. This and the others as in .taprc. */
const TIMEOUT = 600
const env = { ...process.env, TAP_TIMEOUT: String(TIMEOUT), TAP_FAIL_SKIP: '1', TAP_FAIL_TODO: '1' }

/** Programs that load the package as it is built, or the examples, which do. */
const OF_PACKAGE = /^compiled\/\w+\/(?:browser|examples|package|hosts\/nest)\b/

/** The compiled programs of a file or folder of the sources. */
function programsOf (argument) {
  const source = relative('.', argument)
  if (!existsSync(source)) throw new Error(`There is no ${source}: name a test file or a folder, such as test/unit`)
  if (source.endsWith('.test.ts')) return [`compiled/${source.slice(0, -'ts'.length)}js`]
  const below = readdirSync(source, { recursive: true }).map((file) => `${source}/${file}`)
  // In one process, as the whole suite runs them.
  const folder = source.replace(/^test/, 'compiled/folders')
  const together = existsSync(`${folder}.js`)
    ? [`${folder}.js`]
    : below.filter((file) => /(?<!\.alone)\.test\.ts$/.test(file)).flatMap(programsOf)
  return [...together, ...below.filter((file) => file.endsWith('.alone.test.ts')).flatMap(programsOf)]
}

// Each process has a time limit, and not all of them together.
t.setTimeout(0)
t.register()
report(t)
t.resume()
t.jobs = 2
await compile()
const programs = process.argv.slice(2).flatMap(programsOf)
if (programs.length === 0) throw new Error('Name a test file or a folder of tests: npm run only test/unit')
if (programs.some((program) => OF_PACKAGE.test(program))) {
  spawnSync('npm run -s build && npx tsc -p examples', { shell: true, stdio: 'inherit' })
}
for (const program of programs) {
  const args = ['--enable-source-maps', '--disable-warning=PartnerSsoWarning', program]
  t.spawn(process.execPath, args, { env, name: program, timeout: TIMEOUT * 1000, stdio: 'pipe', buffered: true })
}
