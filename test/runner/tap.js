// Runs test files and reads the results. For `npm test` (test/run.js) and test/repeat.js.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, normalize, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { COMPILED } from './compile.js'
import { coverageOf } from './coverage.js'
import { failuresIn } from './failures.js'

const PROCESSES = join(COMPILED, 'processes')

/** Milliseconds that nothing takes unless it hangs. */
const HOUR = 3_600_000

/** Test files of one process at most. */
const MOST = 8

/** Folders whose test files take long: these begin first. */
const LONG = ['contract', 'browser', 'package', 'examples', 'simulator', 'interleavings', 'faults']

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

/** Whether the test file says that it needs a process of its own. */
const isAlone = (file) => /^\/\/ Alone:/m.test(readFileSync(file, 'utf8'))

/**
 * A module for each process, which loads one test file or several: to start a process, and to load tap and Fastify in
 * it, takes longer than most test files. tap begins them in the order of their names.
 */
export function processesOf (files) {
  rmSync(PROCESSES, { recursive: true, force: true })
  mkdirSync(PROCESSES, { recursive: true })
  const rank = ([file]) => (LONG.indexOf(folderOf(file)) + 1) || Infinity
  const alone = files.filter(isAlone).map((file) => [file])
  const shared = files.filter((file) => !isAlone(file))
  const folders = [...new Set(shared.map(folderOf))]
  const groups = folders.flatMap((folder) => chunks(shared.filter((file) => folderOf(file) === folder)))
  return [...alone, ...groups].sort((one, other) => rank(one) - rank(other)).map(loading)
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

/**
 * Runs each of the files, which are programs: as many at once as there are jobs. `show` gets a line for each file, and
 * all of each failure. `covered`: with coverage, as coverage.js says.
 */
export async function runFiles (jobs, files, show, { covered = false } = {}) {
  const total = { ...nothing(), ok: true }
  const queue = [...files]
  const work = async () => {
    for (let file; (file = queue.shift()) !== undefined;) {
      add(total, await runFile(file, show, files.length === 1, covered ? coverageOf(basename(file)) : undefined))
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return total
}

/** Shows the lines of a file at its end, in one piece; of the only file at once. */
async function runFile (file, show, isOnly, coverage) {
  const begun = performance.now()
  const shown = []
  const results = await read(file, coverage?.environment ?? {}, isOnly ? show : (line) => shown.push(line))
  const name = basename(file, '.mjs')
  const seconds = (performance.now() - begun) / 1000
  coverage?.keep(seconds)
  for (const line of shown) show(line)
  show(`${results.ok ? 'ok' : 'not ok'} - ${name} (${seconds.toFixed(1)} s)`)
  // It ended before or beside its tests: its standard error says why.
  if (!results.ok && results.fail === 0) {
    results.fail = 1
    results.failures.push(`${name} ended with ${results.end}`)
  }
  return results
}

/** Runs a program that prints TAP. `show` gets each line of interest. Returns tap's own counts, and how it ended. */
async function read (file, environment, show) {
  const args = ['--enable-source-maps', '--disable-warning=PartnerSsoWarning', file]
  // Of tap's own the longest, which a busy machine does not reach: test/runner/watchdog.js ends a test that hangs.
  const env = { ...process.env, TAP_TIMEOUT: String(HOUR / 1000), ...environment }
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env, timeout: HOUR })
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  const lines = []
  let counts = null
  let inDiagnostics = false
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    counts = countsIn(line) ?? counts
    if (/^\s*not ok/.test(line)) inDiagnostics = true
    if (inDiagnostics || isOfInterest(line)) show(line)
    if (/^\s*\.\.\.$/.test(line)) inDiagnostics = false
  }
  const end = await exited
  const ok = end === 0 && counts !== null
  return { ...nothing(), ...counts, failures: ok ? [] : await failuresIn(lines), end, ok }
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
