// Runs test files, by tap or by themselves, and reads the results. For `npm test` (test/run.js) and test/repeat.js.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, normalize, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { COMPILED } from './compile.js'
import { failureReader } from './failures.js'

const PROCESSES = join(COMPILED, 'processes')

/** Milliseconds that nothing takes unless it hangs. */
const HOUR = 3_600_000

/** Test files of one process at most. */
const MOST = 8

/** Folders whose test files take long or need a process of their own. These begin first. */
const APART = ['interleavings', 'contract', 'browser', 'package', 'faults', 'examples', 'simulator']

/** Takes minutes: it is run where it is named. */
const NIGHT = join('test', 'night')

/** Every test file but the night, or those that are named, by themselves or by their folder. */
export function testFiles (named = []) {
  const wrong = named.filter((path) => !existsSync(path))
  if (wrong.length > 0) throw new Error(`No such file or folder: ${wrong.join(', ')}`)
  const paths = named.map((path) => normalize(statSync(path).isDirectory() ? `${path}/` : path))
  return readdirSync('test', { recursive: true }).filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file)).sort()
    .filter((file) => paths.length === 0
      ? !file.startsWith(NIGHT)
      : paths.some((path) => file === path || file.startsWith(path)))
}

const folderOf = (file) => file.split('/')[1]

/** Whether the test file needs a process of its own: it has a clock or a heap of its own, or starts many others. */
const isAlone = (file) => APART.includes(folderOf(file)) || /^\/\/ Alone:/m.test(readFileSync(file, 'utf8'))

/**
 * A module for each process, which loads one test file or several: to start a process, and to load tap and Fastify in
 * it, takes longer than most test files. tap begins them in the order of their names.
 */
export function processesOf (files) {
  rmSync(PROCESSES, { recursive: true, force: true })
  mkdirSync(PROCESSES, { recursive: true })
  const rank = (file) => (APART.indexOf(folderOf(file)) + 1) || Infinity
  const alone = files.filter(isAlone).sort((one, other) => rank(one) - rank(other)).map((file) => [file])
  const shared = files.filter((file) => !isAlone(file))
  const folders = [...new Set(shared.map(folderOf))]
  const groups = folders.flatMap((folder) => chunks(shared.filter((file) => folderOf(file) === folder)))
  return [...alone, ...groups].map(loading)
}

/** The files in parts of about the same size. */
function chunks (files) {
  const count = Math.ceil(files.length / MOST)
  return Array.from({ length: count }, (_, part) => files.filter((_, index) => index % count === part))
}

/** Writes a module that loads the files, by one statement each: tap takes a pause between two files for the end. */
function loading (files, index) {
  const [file] = files
  const name = files.length === 1 ? file.slice('test/'.length, -'.test.ts'.length) : `${folderOf(file)}-together`
  const path = join(PROCESSES, `${String(index + 1).padStart(2, '0')}-${name.replaceAll('/', '-')}.mjs`)
  const modules = files.map((file) => relative(PROCESSES, join(COMPILED, file.replace(/\.ts$/, '.js'))))
  const imports = modules.map((module) => `import '${module}'\n`)
  const first = ["import '../test/runner/light-hooks.js'\n", "import { loaded } from '../test/runner/watchdog.js'\n"]
  writeFileSync(path, [...first, ...imports, 'loaded()\n'].join(''))
  return path
}

/** The counts of tap, and what failed: failures.js. */
const nothing = () => ({ pass: 0, fail: 0, skip: 0, todo: 0, failures: [] })

/** Runs a command that prints TAP. `show` gets each line of interest. Returns tap's own counts, and how it ended. */
async function read (command, args, env, show) {
  const stdio = ['ignore', 'pipe', 'inherit']
  const reader = await failureReader()
  const child = spawn(command, args, { stdio, env: { ...process.env, ...env }, timeout: HOUR })
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  let counts = null
  let inDiagnostics = false
  for await (const line of createInterface({ input: child.stdout })) {
    counts = countsIn(line) ?? counts
    reader.write(line)
    if (/^\s*not ok/.test(line)) inDiagnostics = true
    if (inDiagnostics || isOfInterest(line)) show(line)
    if (/^\s*\.\.\.$/.test(line)) inDiagnostics = false
  }
  const end = await exited
  return { ...nothing(), ...counts, failures: reader.end(), end, ok: end === 0 && counts !== null }
}

/** Runs tap with these options and files: it measures the coverage. `show` gets each line of interest. */
export async function runTap (options, files, show) {
  return await read('node_modules/.bin/tap', ['--reporter=tap', ...options, ...files], {}, show)
}

/**
 * Runs each of the files, which are programs, by itself: without coverage, and without the seconds that tap takes.
 * `show` gets a line for each file, and all of each failure.
 */
export async function runFiles (jobs, files, show) {
  const total = { ...nothing(), ok: true }
  const queue = [...files]
  const work = async () => {
    for (let file; (file = queue.shift()) !== undefined;) add(total, await runFile(file, show, files.length === 1))
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return total
}

/** Shows the lines of a file at its end, in one piece; of the only file at once. */
async function runFile (file, show, isOnly) {
  const begun = performance.now()
  const shown = []
  const args = ['--enable-source-maps', '--disable-warning=PartnerSsoWarning', '--import=@tapjs/mock/import', file]
  const results = await read(process.execPath, args, { TAP_TIMEOUT: '600' }, isOnly ? show : (line) => shown.push(line))
  const name = basename(file, '.mjs')
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  for (const line of shown) show(line)
  show(`${results.ok ? 'ok' : 'not ok'} - ${name} (${seconds} s)`)
  // It ended before or beside its tests: its standard error says why.
  if (!results.ok && results.fail === 0) {
    results.fail = 1
    results.failures.push(`${name} ended with ${results.end}`)
  }
  return results
}

function add (total, { pass, fail, skip, todo, failures, ok }) {
  total.pass += pass
  total.fail += fail
  total.skip += skip
  total.todo += todo
  total.failures.push(...failures)
  total.ok &&= ok
}

/** The last line but one of tap: `# { total: 22, pass: 22 }`. */
function countsIn (line) {
  const found = /^# \{ (.*) \}$/.exec(line)
  if (found === null) return null
  const pairs = found[1].split(', ').map((pair) => pair.split(': '))
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]))
}

function isOfInterest (line) {
  return /^ok /.test(line) || !/^\s*(?:ok |# Subtest|# time|1\.\.|\{|\}|$|TAP version)/.test(line)
}
