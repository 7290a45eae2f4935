// Mutation testing of lib/ (without lib/testing and lib/simulator): does a test fail when a condition, a statement, a text
// or a number of the plugin is changed?
//
//   node test/mutation/run.js [part of a path ...] [--parallel 2] [--verbose]
//
// All mutants are compiled once, into a copy of the tree, and sleep there; each gets processes of its own in which it is
// awake. First every test file runs once and tells which mutants it passes by; then each mutant meets the files that pass
// it by, the quickest first, until one fails or takes too long. What survives is printed; known survivors, with the reason
// why they cannot be told apart, stand in test/mutation/survivors.js.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { mutate } from './mutants.js'
import { survivors } from './survivors.js'

const { values: { parallel, verbose }, positionals } = parseArgs({ allowPositionals: true, options: { parallel: { type: 'string', default: '2' }, verbose: { type: 'boolean', default: false } } })
const root = resolve(import.meta.dirname, '../..')
const copy = mkdtempSync(join(tmpdir(), 'partner-sso-mutation-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
process.once('SIGINT', () => process.exit(1))

// Enough rounds to meet every mutant.
const short = { MODEL_RUNS: '100', STATE_RUNS: '40', INJECTION_RUNS: '40' }

// Milliseconds of a test file that is run together with others.
const QUICK = 4000

// Other rooms, or rooms that a mutant would take too long in: a browser, several processes, many rounds.
const leftOut = /lib\/(?:testing|simulator)\/|attacks\/(?:single-use|replay|fuzz|error-page|random-secrets|request-target)\.|faults\/(?:load|killed|memory|replication)\.|test\/(?:examples|package|bench|mutation|testing|simulator|browser|tools)\//

/** For each source file its namesake among the tests, then those that its last mutants fell to. */
const killers = new Map()
let runs = 0

const mutants = build()
const files = readdirSync(join(copy, 'test'), { recursive: true }).map((file) => join('test', file)).filter((file) => file.endsWith('.test.js') && !leftOut.test(file))
console.log(`${mutants.length} mutants in ${new Set(mutants.map(({ path }) => path)).size} files; ${files.length} test files`)
const tests = await observe(files)
await checkTogether()
const verdicts = await judge(mutants)
report(verdicts)

/** The tree in JavaScript, lib with every mutant in it. */
function build () {
  const made = []
  for (const path of readdirSync(join(root, 'lib'), { recursive: true }).map((path) => join('lib', path)).concat(readdirSync(join(root, 'test'), { recursive: true }).map((path) => join('test', path)))) {
    if (!path.endsWith('.ts') || path.endsWith('.d.ts')) continue
    let text = readFileSync(join(root, path), 'utf8')
    if (path.startsWith('lib/') && !leftOut.test(path)) {
      const result = mutate(path, text, made.length + 1)
      text = result.text
      made.push(...result.mutants)
    }
    const { outputText } = ts.transpileModule(text, { fileName: path, compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true } })
    const target = join(copy, path.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, outputText.replace(/(['"])(\.{1,2}\/[^'"]*|[\w-]+)\.ts\1/g, '$1$2.js$1'))
  }
  for (const name of ['package.json', 'node_modules', 'examples', 'README.md', 'dist']) if (existsSync(join(root, name))) symlinkSync(join(root, name), join(copy, name))
  for (const file of readdirSync(join(root, 'test'), { recursive: true })) {
    if (/\.(?:js|json|pem)$/.test(file)) cpSync(join(root, 'test', file), join(copy, 'test', file))
  }
  writeFileSync(join(copy, 'awake.mjs'), `
    import { writeFileSync } from 'node:fs'
    const awake = Number(process.env.MUTANT)
    const seen = new Set()
    globalThis.__mutant = awake > 0 ? (id) => id === awake : (id) => { seen.add(id); return false }
    if (awake === 0) process.on('exit', () => writeFileSync(process.env.SEEN, JSON.stringify([...seen])))
  `)
  return made
}

/** Runs test files, all in one process; gives its exit code, or null when the time was over. */
async function run (files, mutant, limit) {
  const started = performance.now()
  // Imported at once: between one import and the next, tap would find that nothing is left to do.
  const together = join(copy, `together-${++runs}.mjs`)
  writeFileSync(together, files.map((file) => `import './${file}'\n`).join(''))
  const child = spawn(process.execPath, ['--import', join(copy, 'awake.mjs'), together], { cwd: copy, detached: true, stdio: 'ignore', env: { ...process.env, MUTANT: String(mutant), SEEN: join(copy, 'seen.json'), TAP_BAIL: '1', TAP_TIMEOUT: '300', ...short } })
  let over = false
  // With what the test has started: its servers would outlive it.
  const end = () => { try { process.kill(-child.pid, 'SIGKILL') } catch {} }
  const timer = setTimeout(() => { over = true; end() }, limit)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  rmSync(together)
  end()
  return { code: over ? null : code, took: performance.now() - started }
}

/** How long each test file takes, and which mutants it passes by. */
async function observe (files) {
  const tests = []
  for (const file of files) {
    const { code, took } = await run([file], 0, 120_000)
    if (code !== 0) {
      console.log(`${file} fails without any mutant (${code}); it is left out`)
      continue
    }
    tests.push({ file, took, seen: new Set(JSON.parse(readFileSync(join(copy, 'seen.json'), 'utf8'))) })
    if (verbose) console.log(`${file}: ${took.toFixed()} ms`)
  }
  return tests.sort((a, b) => a.took - b.took)
}

/** Quick files meet no fewer mutants together than one by one. */
async function checkTogether () {
  const quick = tests.filter(({ took }) => took < QUICK)
  const { code, took } = await run(quick.map(({ file }) => file), 0, 300_000)
  const seen = new Set(JSON.parse(readFileSync(join(copy, 'seen.json'), 'utf8')))
  const missed = quick.filter((test) => [...test.seen].some((id) => !seen.has(id)))
  if (code !== 0 || missed.length > 0) throw new Error(`together, the quick files give ${code}, and these do not run: ${missed.map(({ file }) => file).join(', ')}`)
  console.log(`${quick.length} quick files take ${(took / 1000).toFixed(1)} s together`)
}

async function judge (mutants) {
  const chosen = mutants.filter(({ path }) => positionals.length === 0 || positionals.some((part) => path.includes(part)))
  const queue = [...chosen]
  const verdicts = []
  const started = performance.now()
  await Promise.all(Array.from({ length: Number(parallel) }, async () => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const verdict = { ...mutant, ...await fate(mutant) }
      verdicts.push(verdict)
      if (verbose && verdict.killer === null) console.log(`alive: ${mutant.path}:${mutant.line}  ${mutant.original}  ->  ${mutant.mutated}  (${verdict.met} files pass by)`)
      if (verdicts.length % 50 === 0) console.log(`${verdicts.length} of ${chosen.length}, ${verdicts.filter(({ killer }) => killer === null).length} survive, ${((performance.now() - started) / 60_000).toFixed(1)} min`)
    }
  }))
  return verdicts.sort((a, b) => a.id - b.id)
}

async function fate ({ id, path }) {
  const recent = killers.get(path) ?? killers.set(path, tests.filter((test) => basename(test.file, '.test.js') === basename(path, '.ts'))).get(path)
  const meeting = tests.filter((test) => test.seen.has(id) && concerns(test, path)).sort((a, b) => rank(recent, a) - rank(recent, b))
  // The first ones one by one, to learn which it was; then all the quick ones in one process, which stops at the first
  // failure; then the slow ones.
  const quick = meeting.slice(2).filter(({ took }) => took < QUICK)
  const groups = [...meeting.slice(0, 2).map((test) => [test]), quick, ...meeting.slice(2).filter(({ took }) => took >= QUICK).map((test) => [test])]
  for (const group of groups) {
    if (group.length === 0) continue
    const { code } = await run(group.map(({ file }) => file), id, 5 * group.reduce((sum, { took }) => sum + took, 0) + 10_000)
    if (code === 0) continue
    if (group.length === 1) killers.set(path, [group[0], ...recent.filter((other) => other !== group[0])].slice(0, 4))
    return { killer: group[0].file, timeout: code === null }
  }
  return { killer: null, met: meeting.length }
}

/**
 * Faults of Redis take long, and concern what stands between the plugin and Redis; what sorts of host there are concerns
 * what stands between the plugin and Fastify. A mutant that would fall to them alone counts as a survivor.
 */
function concerns ({ file, took }, path) {
  if (file.includes('hosts/')) return /index|replies|routes|logged-request|parameters|options|open-store/.test(path)
  return /stores|store|deadline|readiness|index/.test(path) || (!file.includes('faults/') && took < 15_000)
}

function rank (recent, test) {
  const place = recent.indexOf(test)
  // One that takes long waits for its turn all the same.
  return place === -1 || test.took > QUICK ? test.took : place
}

function report (verdicts) {
  const alive = verdicts.filter(({ killer }) => killer === null)
  const lineOf = ({ path, line }) => readFileSync(join(root, path), 'utf8').split('\n')[line - 1]
  const reasonOf = (mutant) => survivors.find(({ path, original, mutated, line }) =>
    path === mutant.path && original === mutant.original && mutated === mutant.mutated && lineOf(mutant).includes(line))?.reason
  for (const mutant of alive) {
    const reason = reasonOf(mutant)
    console.log(`${reason === undefined ? 'SURVIVES' : 'survives'} ${mutant.path}:${mutant.line}  ${mutant.original}  ->  ${mutant.mutated}${mutant.met === 0 ? '  (no test passes by)' : ''}${reason === undefined ? '' : `  (${reason})`}`)
  }
  const killed = verdicts.length - alive.length
  const unexplained = alive.filter((mutant) => reasonOf(mutant) === undefined).length
  console.log(`\n${verdicts.length} mutants, ${killed} killed (${verdicts.filter(({ timeout }) => timeout).length} by the time limit), ${alive.length} survive, ${unexplained} of them unexplained`)
  console.log(`score ${(100 * killed / verdicts.length).toFixed(1)} %`)
  process.exit(unexplained === 0 ? 0 : 1)
}
