// Do the tests notice a mistake in lib? Applies each of mistakes.txt in a worktree of the last commit, and runs the
// tests until one fails. A mistake that no test notices fails the run. It does not begin where a fragment does not
// occur once, or where a test fails without any mistake.
//
// A mistake there: a sentence that says what is wrong, the lines of a fragment of lib that occurs once, after "- ", and
// those that replace it, after "+ ". Fragments may begin and end within a line, but not with a space at its end.
//
//   node test/mutation/run.js [word of the sentence] [--mistakes file.json]     [{ sentence, file, from, to }]
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import filesCoveredBy from '../coverage-map.js'

const TREE = resolve('.tap/mutation')

/** Test files that are tried first, and next: they notice most. Then all others. */
const STEPS = [/contract/, /unit|attacks|stores|check|testing/, /(?:)/]

const { values, positionals: [word = ''] } = parseArgs({
  allowPositionals: true, options: { mistakes: { type: 'string' } }
})

function read (mistake) {
  const [sentence, ...lines] = mistake.split('\n')
  const after = (sign) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(2)).join('\n')
  return { sentence, from: after('-'), to: after('+') }
}

const run = (command, ...args) => spawnSync(command, args, { cwd: TREE, encoding: 'utf8', maxBuffer: 2 ** 30 })

/** The names of what failed first, the file before its tests. Null where all pass. */
function failureOf (files) {
  const { status, stdout } = run('npx', 'tap', '--disable-coverage', '--reporter=tap', '--bail', ...files)
  if (status === 0) return null
  return [...stdout.matchAll(/^ *(?:not ok \d+ -|Bail out!) (.*?)(?: # time.*)?$/gm)]
    .map(([, name]) => name).reverse().join(' > ')
}

/** The path of the file of lib that has the fragment. Throws unless it is there once. */
function pathOf ({ sentence, from, file }) {
  const files = file === undefined
    ? readdirSync(join(TREE, 'lib'), { recursive: true }).filter((name) => name.endsWith('.ts'))
      .map((name) => join('lib', name))
    : [file]
  const found = files.flatMap((name) => readFileSync(join(TREE, name), 'utf8').split(from).slice(1).map(() => name))
  if (found.length === 1) return join(TREE, found[0])
  throw new Error(`The fragment occurs ${found.length} times in lib: ${sentence}: ${from}`)
}

/** What became of a mistake. */
function outcomeOf (mistake, tests) {
  const path = pathOf(mistake)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(mistake.from, () => mistake.to))
  let failure = run('npm', 'run', '-s', 'compile').status === 0 ? null : 'the compiler'
  const left = new Set(tests)
  for (const step of STEPS) {
    const files = [...left].filter((file) => step.test(file))
    for (const file of files) left.delete(file)
    failure ??= failureOf(files)
  }
  writeFileSync(path, text)
  return failure === null ? 'SURVIVED' : `noticed by ${failure}`
}

execFileSync('git', ['worktree', 'add', '--detach', '--force', TREE], { stdio: 'ignore' })
try {
  symlinkSync(resolve('node_modules'), join(TREE, 'node_modules'))
  const all = values.mistakes === undefined
    ? readFileSync('test/mutation/mistakes.txt', 'utf8').trimEnd().split('\n\n').map(read)
    : JSON.parse(readFileSync(values.mistakes, 'utf8'))
  for (const mistake of all) pathOf(mistake)
  run('npm', 'run', '-s', 'pretest')
  const tests = run('npx', 'tap', 'list').stdout.trim().split('\n').filter((file) => filesCoveredBy(file) !== null)
  const failure = failureOf(tests)
  if (failure !== null) throw new Error(`A test fails without any mistake: ${failure}`)
  for (const mistake of all.filter(({ sentence }) => sentence.includes(word))) {
    const outcome = outcomeOf(mistake, tests)
    console.log(`${mistake.sentence}: ${outcome}`)
    if (!outcome.startsWith('noticed')) process.exitCode = 1
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', TREE])
}
