// Does a test fail when the code is broken?
//
//   npm test                                              # leaves the coverage: which tests run a line
//   node test/mutation/run.js [part of a sentence ...] [--mistakes file.json]
//
// Each mistake is made alone in a copy of the project. The tests that run its lines are tried until one fails: the
// contract suite in four configurations, then the others, first those that are short and have noticed most so far, at
// last those without coverage (interleavings, examples, browser, package) and the compiler. What fails without the
// mistake as well (the control) notices nothing. The outcome of each is printed, and the output of the test that
// decided is kept in `.tap/mutation`; exit 1 when one survived or a control failed. A file has mistakes of its own:
// [{ "mistake", "file", "find", "replace" }], or for several places [{ "mistake", "edits": [{ "file", "find",
// "replace" }] }].
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { COMPILED, compile } from '../runner/compile.js'
import { processesOf, testFiles } from '../runner/tap.js'
import { Coverage } from './coverage.js'
import { mistakes } from './mistakes.js'
import { Tree } from './tree.js'

/** Together they have nearly every value of each dimension. */
const CONFIGURATIONS = ['0', '1', '2', '19']

const { values, positionals } = parseArgs({ allowPositionals: true, options: { mistakes: { type: 'string' } } })
const given = values.mistakes === undefined
  ? mistakes.map(([mistake, find, replace]) => ({ mistake, find, replace }))
  : JSON.parse(readFileSync(values.mistakes, 'utf8'))
const chosen = given.filter(({ mistake }) => positionals.length === 0 || positionals.some((p) => mistake.includes(p)))

const sources = readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts'))
  .map((file) => join('lib', file)).map((file) => ({ file, text: readFileSync(file, 'utf8') }))

/** The file in which the fragment stands, once; undefined when there is none. */
function placeOf ({ find, file }) {
  const found = sources.filter(({ file: name, text }) => (file ?? name) === name && text.includes(find))
  return found.length === 1 && found[0].text.split(find).length === 2 ? found[0] : undefined
}

await compile()
processesOf(testFiles())
const coverage = new Coverage()

const isContract = (name) => name.endsWith('-contract-contract.mjs')

/** Without coverage: any line may be run by them. */
const uncovered = readdirSync(join(COMPILED, 'processes'))
  .filter((name) => /^\d+-(?:interleavings|examples|browser|package)-/.test(name))

const OUTPUT = '.tap/mutation'
mkdirSync(OUTPUT, { recursive: true })

/** What fails without any mistake, by process and configuration. */
const controls = new Map()

/** Whether the tests pass without a mistake: tried once, when they have failed with one. */
async function isSound (control, name, environment) {
  const key = JSON.stringify([name, environment])
  if (!controls.has(key)) controls.set(key, control.run(name, environment))
  const { verdict, output } = await controls.get(key)
  if (verdict !== 'passes') writeFileSync(join(OUTPUT, `control-${name}.tap`), output)
  return verdict === 'passes'
}

/** How many mistakes each process was tried with, and noticed. */
const records = new Map()
const recordOf = (name) => records.get(name) ?? { tried: 0, noticed: 0 }

/** Seconds of a process for each mistake that it may notice. */
function cost (name) {
  const { tried, noticed } = recordOf(name)
  return coverage.timeOf(name) * (tried + 2) / (noticed + 1)
}

/**
 * What the tests of a process say of the mistake in the tree. Failures that the control has too do not count, nor one
 * that the machine caused: the tests must fail again.
 */
async function judged (tree, control, name, environment = {}) {
  const result = await tree.run(name, environment)
  const isNoticed = result.verdict !== 'passes' && await isSound(control, name, environment) &&
    (await tree.run(name, environment)).verdict !== 'passes'
  const { tried, noticed } = recordOf(name)
  records.set(name, { tried: tried + 1, noticed: noticed + Number(isNoticed) })
  return isNoticed ? result : { verdict: 'passes' }
}

/** The processes that may notice a mistake, in the order in which they are tried. */
function attempts (processes) {
  const [contract] = processes.filter(isContract)
  const configurations = contract === undefined ? [] : CONFIGURATIONS
  const byCost = processes.toSorted((one, other) => cost(one) - cost(other))
  const others = uncovered.filter((name) => !processes.includes(name))
  return [
    ...configurations.map((CONFIGURATION) => [contract, { CONFIGURATION }]),
    ...[...byCost, ...others].map((name) => [name, {}])
  ]
}

/** The verdict on the mistake in the tree. A hang counts only where no test fails. */
async function verdictOf (tree, control, processes) {
  let hung
  for (const [name, environment] of attempts(processes)) {
    const { verdict, output } = await judged(tree, control, name, environment)
    const by = [...Object.values(environment).map((number) => `configuration ${number}`), name].join(' of ')
    if (verdict === 'fails') return ['noticed', by, output]
    if (verdict === 'hangs') hung ??= ['hung', by, output]
  }
  if (hung !== undefined) return hung
  const { verdict, output } = await tree.checkTypes()
  return verdict === 'passes' ? ['SURVIVED'] : ['noticed', 'types', output]
}

/** The lines of a place, and which processes run them. */
function processesAt ({ file, text }, find) {
  const first = text.slice(0, text.indexOf(find)).split('\n').length - 1
  return coverage.processesAt(file, first, first + find.split('\n').length - 1)
}

/** The verdict on a mistake, the process that noticed it, and its output. */
async function outcome (tree, control, { edits, ...single }) {
  const texts = new Map()
  const processes = new Set()
  for (const { find, replace, file } of edits ?? [single]) {
    const place = placeOf({ find, file })
    if (place === undefined) return ['gone']
    texts.set(place.file, (texts.get(place.file) ?? place.text).replace(find, () => replace))
    for (const name of processesAt(place, find)) processes.add(name)
  }
  return await tree.with(texts, () => verdictOf(tree, control, [...processes])) ?? ['does not compile']
}

const counts = { noticed: 0, hung: 0, SURVIVED: 0, gone: 0, 'does not compile': 0 }
const queue = [...chosen.entries()]
const control = new Tree()
await Promise.all(Array.from({ length: availableParallelism() }, async () => {
  const tree = new Tree()
  for (let next; (next = queue.shift()) !== undefined;) {
    const [index, one] = next
    const begun = performance.now()
    const [word, by = '', output] = await outcome(tree, control, one)
    counts[word]++
    if (output !== undefined) writeFileSync(join(OUTPUT, `${index}-${word}.tap`), output)
    const seconds = Math.round((performance.now() - begun) / 1000)
    console.log(`${word} (${[by, `${seconds} s`].filter(Boolean).join(', ')}): ${one.mistake}`)
  }
  tree.remove()
}))
control.remove()
let unsound = 0
for (const [key, result] of controls) {
  const { verdict } = await result
  if (verdict === 'passes') continue
  unsound++
  console.log(`the control ${verdict}: ${key}`)
}
console.log(Object.entries(counts).map(([word, count]) => `${count} ${word}`).join(', '))
process.exit(counts.SURVIVED + unsound === 0 ? 0 : 1)
