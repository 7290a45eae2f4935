// `npm test`: installs or names the programs that the tests need, runs everything, ends with `N passed, N failed`.
// `npm test -- test/unit test/x.test.ts`: the tests of these folders and files alone, with what they need alone.
// `npm test -- --watch test/x.test.ts`: again after each change of lib, test or examples.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { compile } from './runner/compile.js'
import { clearCoverage, REPORT } from './runner/coverage.js'
import { needsOf, provide } from './runner/needs.js'
import { processesOf, runFiles, testFiles } from './runner/tap.js'

/** Test files at once: one more than processors, since many files wait for servers. */
const JOBS = availableParallelism() + 1

/** Runs a command beside others. Its output is shown in one piece at its end. */
async function runBeside (command, ...args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text })
  const code = await new Promise((resolve) => child.once('error', () => resolve(null)).once('close', resolve))
  console.log(`\n> ${[command, ...args].join(' ')}\n${output}`)
  return code === 0
}

/** The checks that are no tests, one after the other, while tests are waiting for servers and timers. */
async function compileAndLint () {
  return [
    ['the types of lib and test are right', await runBeside('npx', 'tsc', '-p', '.')],
    ['the linter finds nothing', await runBeside('npm', 'run', '-s', 'lint')]
  ]
}

/** Builds what the tests read: the package, which some import by its name, and the examples, which some start. */
async function build ({ dist, examples }) {
  const builds = []
  if (dist) builds.push(['the package builds', await runBeside('npm', 'run', '-s', 'build')])
  if (examples) builds.push(['the examples compile', await runBeside('npx', 'tsc', '-p', 'examples')])
  return builds
}

/** Everything, with coverage. */
async function runWhole (processes) {
  clearCoverage()
  const tests = runFiles(JOBS, processes, console.log, { covered: true })
  const [compiled, results] = await Promise.all([compileAndLint(), tests])
  const covered = ['tests run every line, branch and function of lib', await runBeside(...REPORT)]
  return { results, checks: [...compiled, covered] }
}

async function runChosen (processes) {
  return { results: await runFiles(JOBS, processes, console.log), checks: [] }
}

/** Runs the tests of the files and folders, or all. Whether they pass. */
async function run (named) {
  const files = testFiles(named)
  const needs = needsOf(files)
  provide(needs.programs)
  const built = [needs.dist ? 'dist' : [], needs.examples ? 'examples/dist' : []].flat()
  const builds = await build(needs)
  await compile({ built })
  const processes = processesOf(files)
  const { results, checks: more } = await (named.length === 0 ? runWhole : runChosen)(processes)
  const none = results.skip === 0 && results.todo === 0
  const checks = [...builds, ...more, ['no test is skipped or left to do', none]]

  console.log()
  for (const [name, ok] of checks) console.log(`${ok ? 'ok' : 'not ok'} - ${name}`)
  if (results.failures.length > 0) console.log(`\nFailed:\n\n${results.failures.join('\n\n')}`)
  const passed = results.pass + checks.filter(([, ok]) => ok).length
  const failed = results.fail + checks.filter(([, ok]) => !ok).length
  console.log(`\n${passed} passed, ${failed} failed`)
  return failed === 0
}

/** `run`; what cannot even be begun is a reason, not a stack. */
const attempt = (named) => run(named).catch((error) => {
  console.error(`\n${error.message}`)
  return false
})

/** Resolves when a source is changed. Its other changes of the same moment are waited for. */
function changed () {
  return new Promise((resolve) => {
    const watchers = ['lib', 'test', 'examples'].map((folder) => watch(folder, { recursive: true }, (_event, path) => {
      if (!/\.(?:[cm]?[jt]s|json)$/.test(path) || path.startsWith('dist')) return
      for (const watcher of watchers) watcher.close()
      setTimeout(resolve, 100)
    }))
  })
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { watch: { type: 'boolean' } } })
if (!existsSync('node_modules/.package-lock.json')) {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
let ok = await attempt(positionals)
while (values.watch) {
  console.log('\nWaiting for a change. Ctrl+C ends.')
  await changed()
  ok = await attempt(positionals)
}
// Not by process.exit(): what is printed into a pipe would be cut off.
process.exitCode = ok ? 0 : 1
