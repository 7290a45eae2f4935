// Runs tap on test files and reads its results. Shared by `npm test` (test/run.js) and test/repeat.js.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, normalize, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { COMPILED } from './compile.js'

const PROCESSES = join(COMPILED, 'processes')

/** Test files of one process at most. */
const MOST = 8

/** Folders whose test files take long or need a process of their own. These begin first. */
const APART = ['interleavings', 'contract', 'browser', 'package', 'faults', 'examples', 'simulator']

/** Every test file, or those that are named, by themselves or by their folder. */
export function testFiles (named = []) {
  const wrong = named.filter((path) => !existsSync(path))
  if (wrong.length > 0) throw new Error(`No such file or folder: ${wrong.join(', ')}`)
  const paths = named.map((path) => normalize(statSync(path).isDirectory() ? `${path}/` : path))
  return readdirSync('test', { recursive: true }).filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file)).sort()
    .filter((file) => paths.length === 0 || paths.some((path) => file === path || file.startsWith(path)))
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
  const [first] = files
  const name = files.length === 1 ? first.slice('test/'.length, -'.test.ts'.length) : `${folderOf(first)}-together`
  const path = join(PROCESSES, `${String(index + 1).padStart(2, '0')}-${name.replaceAll('/', '-')}.mjs`)
  const modules = files.map((file) => relative(PROCESSES, join(COMPILED, file.replace(/\.ts$/, '.js'))))
  writeFileSync(path, modules.map((module) => `import '${module}'\n`).join(''))
  return path
}

/**
 * Runs tap with these options and files. `show` gets each line of interest: a line a file, and all of each failure.
 * Returns tap's own counts, whether tap is content, and the lines of what failed.
 */
export async function runTap (options, files, show) {
  const started = performance.now()
  const child = spawn('npx', ['tap', '--reporter=tap', ...options, ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let counts = null
  let inDiagnostics = false
  const failures = []
  for await (const line of createInterface({ input: child.stdout })) {
    counts = countsIn(line) ?? counts
    if (/^\s*not ok/.test(line)) {
      inDiagnostics = true
      failures.push(line)
    }
    if (inDiagnostics || isOfInterest(line)) show(line)
    if (/^\s*\.\.\.$/.test(line)) inDiagnostics = false
  }
  const ended = await exited === 0 && counts !== null
  const took = performance.now() - started
  return { pass: 0, fail: 0, skip: 0, todo: 0, ...counts, ok: ended, failures, took }
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
