// `npm test`: installs or names the programs that the tests need, runs everything, ends with `N passed, N failed`.
// `npm test -- test/unit test/x.test.ts`: the tests of these folders and files alone.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { compile } from './runner/compile.js'
import { processesOf, runTap, testFiles } from './runner/tap.js'

/** Test files at once: one more than processors, since many files wait for servers. */
const JOBS = availableParallelism() + 1

/** What the tests start, and the Debian package of each. */
const programs = {
  'redis-server': 'redis-server',
  'redis-sentinel': 'redis-sentinel',
  chromium: 'chromium',
  postgres: 'postgresql',
  promtool: 'prometheus'
}

/** Debian keeps the programs of PostgreSQL off PATH, in a folder for each version. */
const DEBIAN = '/usr/lib/postgresql'

/** Whether the program is on PATH or where Debian keeps it. */
function isThere (program) {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const folders = [...process.env.PATH.split(':'), ...versions.map((version) => join(DEBIAN, version, 'bin'))]
  return folders.some((folder) => existsSync(join(folder, program)))
}

const missingPrograms = () => Object.keys(programs).filter((program) => !isThere(program))

/** On a bare Debian machine (root, apt-get) installs what is missing; elsewhere says what to install. */
function provide () {
  const installed = existsSync('node_modules/.package-lock.json')
  if (!installed && !run('npm', 'ci', '--no-audit', '--no-fund')) stop('npm ci failed.')
  const missing = missingPrograms()
  if (missing.length === 0) return
  const names = missing.join(', ')
  const packages = missing.map((program) => programs[program])
  if (process.getuid?.() !== 0 || !isThere('apt-get')) {
    stop(`The tests need ${names}. Nothing was installed.\n` +
      `Debian, Ubuntu: sudo apt-get install ${packages.join(' ')}\n` +
      'macOS: brew install redis postgresql prometheus; brew install --cask chromium')
  }
  console.log(`The tests need ${names}: installing ${packages.join(' ')} with apt-get.`)
  // No service is started: the tests start what they need. Debian asks this program.
  const policy = '/usr/sbin/policy-rc.d'
  const isOurs = !existsSync(policy)
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  run('apt-get', 'update', '-qq')
  run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages)
  if (isOurs) rmSync(policy)
  const still = missingPrograms()
  if (still.length > 0) stop(`apt-get did not install ${still.join(', ')}.`)
}

function stop (reason) {
  console.error(`\n${reason}`)
  process.exit(1)
}

/** Runs a command to its end; its output goes where ours goes. */
function run (command, ...args) {
  console.log(`\n> ${[command, ...args].join(' ')}`)
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
}

/** Runs a command beside others. Its output is shown in one piece at its end. */
async function runBeside (command, ...args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text })
  const code = await new Promise((resolve) => child.once('error', () => resolve(null)).once('close', resolve))
  console.log(`\n> ${[command, ...args].join(' ')}\n${output}`)
  return code === 0
}

/** The checks that are no tests, one after the other, while tap is waiting for servers and timers. */
async function compileAndLint () {
  return [
    ['the types of lib and test are right', await runBeside('npx', 'tsc', '-p', '.')],
    ['the linter finds nothing', await runBeside('npm', 'run', '-s', 'lint')]
  ]
}

/** Files of lib that no test has loaded: coverage does not see them. */
function notLoaded () {
  const summary = '.tap/report/coverage-summary.json'
  const loaded = existsSync(summary) ? Object.keys(JSON.parse(readFileSync(summary, 'utf8'))) : []
  // A file of types alone leaves nothing to load.
  const compiled = (file) => readFileSync(join('compiled/lib', file.replace(/ts$/, 'js')), 'utf8')
  const hasCode = (file) => !compiled(file).startsWith('export {};')
  return readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .filter(hasCode)
    // TypeBox is bundled: test/runner/compile.js.
    .filter((file) => file !== 'typebox.ts' && !loaded.some((path) => path.endsWith(join('lib', file))))
}

/** Some tests import the package by its name, from dist, or start an example. */
async function build () {
  const built = await runBeside('npm', 'run', '-s', 'build')
  return [
    ['the package builds', built],
    ['the examples compile', await runBeside('npx', 'tsc', '-p', 'examples')]
  ]
}

provide()
const named = process.argv.slice(2)
const builds = await build()
await compile()
const coverage = named.length === 0
  ? ['--coverage-report=text', '--coverage-report=json-summary']
  : ['--disable-coverage']
const [compiled, results] = await Promise.all([
  named.length === 0 ? compileAndLint() : [],
  runTap([`--jobs=${JOBS}`, ...coverage], processesOf(testFiles(named)), console.log)
])
const missed = named.length === 0 ? notLoaded() : []
const checks = [
  ...builds,
  ...compiled,
  [`tests load every file of lib${missed.map((file) => ` (not ${file})`).join('')}`, missed.length === 0],
  ['no test is skipped or left to do', results.skip === 0 && results.todo === 0],
  // tap wants every line, statement, branch and function of lib covered.
  ['tap ends well', results.ok]
]

console.log()
for (const [name, ok] of checks) console.log(`${ok ? 'ok' : 'not ok'} - ${name}`)
if (results.failures.length > 0) console.log(`\nFailed:\n${results.failures.join('\n')}`)
const passed = results.pass + checks.filter(([, ok]) => ok).length
const failed = results.fail + checks.filter(([, ok]) => !ok).length
console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
