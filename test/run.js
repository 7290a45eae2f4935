// `npm test`: makes sure that what the tests need is there, then runs everything and prints `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const needs = { 'redis-server': 'redis-server', 'redis-sentinel': 'redis-sentinel', chromium: 'chromium' }

/** Runs a command to its end; its output goes where ours goes. */
function run (command, ...args) {
  console.log(`\n> ${[command, ...args].join(' ')}`)
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
}

function stop (reason) {
  console.error(`\n${reason}`)
  process.exit(1)
}

const onPath = (command) => process.env.PATH.split(':').some((folder) => existsSync(join(folder, command)))

/** On a bare Debian machine (root, apt-get) installs what is missing; elsewhere says what to install. */
function provide () {
  if (!existsSync('node_modules/.package-lock.json') && !run('npm', 'ci', '--no-audit', '--no-fund')) stop('npm ci failed.')
  const missing = Object.keys(needs).filter((command) => !onPath(command))
  if (missing.length === 0) return
  const packages = missing.map((command) => needs[command]).join(' ')
  const bareDebian = process.getuid?.() === 0 && onPath('apt-get')
  if (bareDebian) {
    console.log(`The tests need ${missing.join(', ')}: installing ${packages} with apt-get.`)
    const installed = run('apt-get', 'update', '-qq') && run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages.split(' '))
    if (!installed) stop(`apt-get could not install ${packages}.`)
  } else if (missing.includes('redis-server') && process.env.REDIS_URL !== undefined) {
    console.log('redis-server is not on PATH: tests that start and stop servers of their own are left out; the others use REDIS_URL.')
  } else {
    stop(`The tests need ${missing.join(', ')} on PATH. Nothing was installed.\n` +
      `Debian, Ubuntu: sudo apt-get install ${packages}\nmacOS: brew install redis; brew install --cask chromium`)
  }
}

/** Every test file, and of these the ones that cannot run without a redis-server of their own. */
function testFiles () {
  const files = readdirSync('test', { recursive: true }).filter((file) => file.endsWith('.test.ts')).map((file) => join('test', file))
  const own = onPath('redis-server') ? [] : files.filter((file) => /start(?:Redis|Cluster|Sentinel)/.test(readFileSync(file, 'utf8')))
  return { files: files.filter((file) => !own.includes(file)).sort(), leftOut: own }
}

/** Runs tap, shows a line for each file and the whole of every failure; gives tap's own counts. */
async function tap (files, coverage) {
  const options = coverage ? ['--coverage-report=text', '--coverage-report=json-summary'] : ['--disable-coverage']
  const child = spawn('npx', ['tap', '--reporter=tap', ...options, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let counts = { pass: 0, fail: 0 }
  let diagnostics = false
  for await (const line of createInterface({ input: child.stdout })) {
    const count = /^# \{ (.*) \}$/.exec(line)
    if (count !== null) counts = { ...counts, ...Object.fromEntries(count[1].split(', ').map((pair) => pair.split(': ')).map(([name, value]) => [name, Number(value)])) }
    if (/^\s*not ok/.test(line)) diagnostics = true
    if (diagnostics || !/^\s*(?:ok |# Subtest|# time|1\.\.|\{|\}|$|TAP version)/.test(line) || /^ok /.test(line)) console.log(line)
    if (/^\s*\.\.\.$/.test(line)) diagnostics = false
  }
  return { ...counts, ok: await exited === 0 }
}

/** Files of lib that no test has loaded: coverage does not see them. */
function unseen () {
  const seen = Object.keys(JSON.parse(readFileSync('.tap/report/coverage-summary.json', 'utf8')))
  return readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts'))
    .filter((file) => !seen.some((path) => path.endsWith(join('lib', file))))
}

provide()
const checks = [
  ['the package builds', run('npm', 'run', '-s', 'build')],
  ['the examples build', run('npx', 'tsc', '-p', 'examples')],
  ['the types hold', run('npx', 'tsc', '-p', '.')],
  ['the linter finds nothing', run('npm', 'run', '-s', 'lint')]
]
const { files, leftOut } = testFiles()
const complete = leftOut.length === 0
const results = await tap(files, complete)
if (complete) checks.push(['tests see every file of lib', unseen().length === 0], ['all of it is covered, and tap is content', results.ok])

for (const [name, ok] of checks) console.log(`${ok ? 'ok' : 'not ok'} - ${name}`)
if (complete && unseen().length > 0) console.log(`No test loads ${unseen().join(', ')}`)
if (!complete) console.log(`Left out, for want of redis-server on PATH: ${leftOut.join(', ')}`)
const failed = results.fail + checks.filter(([, ok]) => !ok).length
console.log(`\n${results.pass + checks.filter(([, ok]) => ok).length} passed, ${failed} failed${complete ? '' : `, ${leftOut.length} skipped`}`)
process.exit(failed === 0 && (results.ok || !complete) ? 0 : 1)
