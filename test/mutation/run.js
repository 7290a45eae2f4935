// Mutation testing of lib: does a test fail when the code is changed for the worse?
//
//   node test/mutation/run.js [part of a path ...] [--mistakes | --operators] [--changed [--base main]]
//     [--tests part of a path ...] [--every 1] [--parallel 2] [--verbose]
//
// There are two kinds of change. Operators change a condition, a statement, a text or a number (mutants.js). Mistakes
// are written by hand, each with a sentence that says what a person got wrong (mistakes.js). Mutants that behave as the
// original does are listed with the reason (survivors.js), and left out; any survivor fails the run.
//
// All changes are compiled once, into a copy of the tree, and sleep there. Every test file runs once and tells which
// mutants it meets. Then each change is awakened in processes of its own, and meets the test files that pass by it, the
// quickest first, until one fails or takes too long.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { groupsOf, isAlone } from '../runner/together.js'
import { makeTree, root } from './tree.js'
import { survivors } from './survivors.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: 'string', default: '1' },
    parallel: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
    mistakes: { type: 'boolean', default: false },
    operators: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    base: { type: 'string', default: 'main' },
    tests: { type: 'string', multiple: true, default: ['test/'] }
  }
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

// Enough rounds to meet every mutant, and a limit of cost that holds although each mutant asks whether it is awake.
const SHORT = { MODEL_RUNS: '100', STATE_RUNS: '40', INJECTION_RUNS: '40', COST_LIMIT: '30' }

// Milliseconds of a test file that is run together with others.
const QUICK = 10_000

// What a mutant would take too long in: a browser, several processes, many rounds. The last two load the examples, of
// which the copy of the tree has no JavaScript. The runbook is left in: it tells what lib says of each refusal.
const LEFT_OUT = new RegExp([
  'attacks/(?:single-use|replay|fuzz|error-page|random-secrets|request-target)\\.',
  'faults/(?:load|killed|memory|replication)\\.',
  'test/(?:examples|browser)/|package/(?!runbook)',
  'hosts/nest|stores/postgres'
].join('|'))

const changed = values.changed ? changedSince(values.base) : null
const { copy, mutants, mistakes } = makeTree(isAskedFor)
const chosen = [...values.operators ? [] : mistakes, ...values.mistakes ? [] : mutants.filter(isAskedFor)]
  .filter((change, index) => index % Number(values.every) === 0 && !isAlike(change))
const paths = [...new Set(chosen.map(({ path }) => path))]
let runs = 0
/** What ends a process of tests that is running. */
const ending = new Set()
process.once('exit', () => { for (const end of ending) end() })
/** Test files that fail without any change. */
const failing = []
/** For each source file its namesake among the tests, then those that its last changes fell to. */
const killers = new Map()

const files = readdirSync(join(copy, 'test'), { recursive: true }).map((file) => join('test', file))
  .filter((file) => file.endsWith('.test.js') && !LEFT_OUT.test(file))
  .filter((file) => values.tests.some((part) => file.includes(part)))
  .filter((file) => paths.some((path) => concerns(file, path)) && loadsAnyOf(file, paths))
console.log(`${chosen.length} changes in ${paths.length} files of lib; ${files.length} test files`)
const tests = await observe(files)
const groups = await groupsThatPass(tests.filter(({ file, took }) => took < QUICK && !isAlone(file)))
report(await judge())

/** Whether the command asks for changes of this file. */
function isAskedFor ({ path }) {
  return (changed?.has(path) ?? true) && (positionals.length === 0 || positionals.some((part) => path.includes(part)))
}

/** The files of lib that differ from another commit, with what is not committed yet. */
function changedSince (base) {
  const options = { cwd: root, encoding: 'utf8' }
  const git = (...args) => execFileSync('git', args, options).split('\n').filter((line) => line !== '')
  const [fork] = git('merge-base', base, 'HEAD')
  const added = git('ls-files', '--others', '--exclude-standard', 'lib')
  return new Set([...git('diff', '--name-only', fork, '--', 'lib'), ...added])
}

/** Whether a test file imports one of these, by itself or by what it imports. */
function loadsAnyOf (file, paths) {
  const wanted = new Set(paths.map((path) => join(copy, path.replace(/\.ts$/, '.js'))))
  const visited = new Set()
  const queue = [join(copy, file)]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (wanted.has(path)) return true
    if (visited.has(path)) continue
    visited.add(path)
    for (const [, name] of read(path).matchAll(/['"](\.{1,2}\/[^'"]*\.js)['"]/g)) queue.push(join(dirname(path), name))
  }
  return false
}

function read (path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Which tests a change meets. Faults of Redis take long, and concern what stands between the plugin and Redis; hosts of
 * all kinds concern what stands between the plugin and Fastify. A change that would fall to others alone survives.
 */
function concerns (file, path) {
  const isTool = /^lib\/(?:testing|simulator)\//.test(path)
  if (/test\/(?:simulator|testing)\//.test(file)) return isTool || path.endsWith('stores/check.ts')
  if (isTool) return file.includes('test/unit/') || file.includes('check-store')
  if (file.includes('hosts/')) return /index|replies|routes|logged-request|parameters|options|open/.test(path)
  if (file.includes('faults/')) return /stores|readiness|index/.test(path)
  return true
}

/** Runs test files, all in one process; gives its exit code, or null when the time was over. */
async function run (files, environment, limit) {
  const started = performance.now()
  // Imported at once: between one import and the next, tap would find that nothing is left to do.
  const together = join(copy, `together-${++runs}.mjs`)
  writeFileSync(together, files.map((file) => `import './${file}'\n`).join(''))
  const loaders = ['@tapjs/mock/import', join(copy, 'awake.mjs')].flatMap((loader) => ['--import', loader])
  const child = spawn(process.execPath, [...loaders, together], {
    cwd: copy,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, ...environment, ...SHORT, TAP_BAIL: '1', TAP_TIMEOUT: '300' }
  })
  let isOver = false
  // With what the test has started: its servers would outlive it.
  const end = () => { try { process.kill(-child.pid, 'SIGKILL') } catch {} }
  ending.add(end)
  const timer = setTimeout(() => { isOver = true; end() }, limit)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  rmSync(together)
  end()
  ending.delete(end)
  return { code: isOver ? null : code, took: performance.now() - started }
}

/** Runs test files with every change asleep; gives the mutants that they have met, in all their processes. */
async function look (files, limit) {
  const folder = join(copy, `seen-${runs}`)
  mkdirSync(folder)
  const { code, took } = await run(files, { SEEN: folder }, limit)
  const seen = new Set(readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8'))))
  return { code, took, seen }
}

/** How long each test file takes, and which mutants it meets. A file that fails as it is notices nothing. */
async function observe (files) {
  const tests = []
  const queue = [...files]
  await sideBySide(async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const { code, took, seen } = await look([file], 300_000)
      if (code === 0) tests.push({ file, took, seen })
      else failing.push(file)
      if (values.verbose || code !== 0) console.log(`${file}: ${took.toFixed()} ms${code === 0 ? '' : ', FAILS'}`)
    }
  })
  return tests.sort((a, b) => a.took - b.took)
}

/** Runs as many workers side by side as the command asks for. */
async function sideBySide (worker) {
  await Promise.all(Array.from({ length: Number(values.parallel) }, worker))
}

/** Groups of quick files that pass, and meet as many mutants, together as one by one. */
async function groupsThatPass (quick) {
  const passing = []
  const queue = groupsOf(quick.map(({ file }) => file))
  await sideBySide(async () => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
      const members = quick.filter(({ file }) => group.files.includes(file))
      const { code, seen } = await look(group.files, 300_000)
      const missed = members.filter((test) => [...test.seen].some((id) => !seen.has(id)))
      if (code === 0 && missed.length === 0) passing.push(members)
      else console.log(`${group.files.join(', ')}: one by one, since together they fail, or meet fewer mutants`)
    }
  })
  return passing
}

async function judge () {
  const queue = [...chosen]
  const verdicts = []
  const started = performance.now()
  await sideBySide(async () => {
    for (let change = queue.shift(); change !== undefined; change = queue.shift()) {
      const verdict = { ...change, ...await fate(change) }
      verdicts.push(verdict)
      if (values.verbose && verdict.killer === null) console.log(`alive: ${told(verdict)}  (${verdict.met} files)`)
      if (verdicts.length % 50 > 0) continue
      const alive = verdicts.filter(({ killer }) => killer === null).length
      const minutes = ((performance.now() - started) / 60_000).toFixed(1)
      console.log(`${verdicts.length} of ${chosen.length}, ${alive} survive, ${minutes} min`)
    }
  })
  const place = ({ id }) => chosen.findIndex((change) => change.id === id)
  return verdicts.sort((a, b) => place(a) - place(b))
}

/** The first test that fails where the change is awake. */
async function fate (change) {
  const { path } = change
  if (!killers.has(path)) {
    killers.set(path, tests.filter(({ file }) => basename(file, '.test.js') === basename(path, '.ts')))
  }
  const recent = killers.get(path)
  const meeting = tests.filter((test) => concerns(test.file, path) && meets(test, change))
    .sort((a, b) => rank(recent, a) - rank(recent, b))
  // The first ones one by one, to learn which it was; then the groups of quick ones; then the slow ones.
  const first = meeting.slice(0, 2)
  const rest = meeting.filter((test) => !first.includes(test))
  const shared = groups.map((group) => group.filter((test) => rest.includes(test))).filter(({ length }) => length > 0)
  const single = [...first, ...rest.filter((test) => !shared.flat().includes(test))].map((test) => [test])
  for (const group of [...single.slice(0, 2), ...shared, ...single.slice(2)]) {
    const limit = 5 * group.reduce((sum, { took }) => sum + took, 0) + 10_000
    const { code } = await run(group.map(({ file }) => file), awakening(change), limit)
    if (code === 0) continue
    if (group.length === 1) killers.set(path, [group[0], ...recent.filter((other) => other !== group[0])].slice(0, 4))
    return { killer: group[0].file, timeout: code === null }
  }
  return { killer: null, met: meeting.length }
}

/** Whether the test passes by the change. A mistake may change much: the test must have run any code of the file. */
function meets (test, change) {
  if (change.find === undefined) return test.seen.has(change.id)
  return mutants.some(({ id, path }) => path === change.path && test.seen.has(id))
}

function awakening (change) {
  return change.find === undefined ? { MUTANT: String(change.id) } : { MISTAKE: change.file, INSTEAD_OF: change.target }
}

function rank (recent, test) {
  const place = recent.indexOf(test)
  // One that takes long waits for its turn all the same.
  return place === -1 || test.took > QUICK ? test.took : place
}

function told ({ name, path, line, original, mutated }) {
  return `${path}:${line}  ${name ?? `${original}  ->  ${mutated}`}`
}

function report (verdicts) {
  const alive = verdicts.filter(({ killer }) => killer === null)
  for (const change of alive) console.log(`SURVIVES ${told(change)}${change.met === 0 ? '  (no test meets it)' : ''}`)
  console.log()
  for (const [kind, list] of [
    ['mistakes', verdicts.filter(({ find }) => find !== undefined)],
    ['mutants', verdicts.filter(({ find }) => find === undefined)]
  ]) {
    if (list.length === 0) continue
    const killed = list.filter(({ killer }) => killer !== null)
    const late = killed.filter(({ timeout }) => timeout).length
    console.log(`${list.length} ${kind}, ${killed.length} noticed (${late} by the time limit), ` +
      `${list.length - killed.length} survive: ${(100 * killed.length / list.length).toFixed(1)} %`)
  }
  if (failing.length > 0) console.log(`These tests fail without any change: ${failing.join(', ')}`)
  process.exit(alive.length + failing.length === 0 ? 0 : 1)
}

/** Whether a mutant is known to behave as the original does. Mistakes have no such excuse. */
function isAlike ({ path, line, original, mutated }) {
  return survivors.some((known) => known.path === path && known.original === original && known.mutated === mutated &&
    readFileSync(join(root, path), 'utf8').split('\n')[line - 1].includes(known.line))
}
