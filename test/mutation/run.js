// Does a test fail when the code is broken?
//
//   npm test                                              # leaves the coverage that tells which tests run a line
//   node test/mutation/run.js [part of a sentence ...] [--mistakes file.json]
//
// Each mistake is made alone in a copy of the compiled tree. The tests that run its lines are tried until one fails:
// the contract suite in four configurations, then the nearest folders, then the others, the shortest first. The outcome
// of each is printed; exit 1 when one survived. A file has mistakes of its own: [{ "mistake", "file", "find",
// "replace" }].
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compile } from '../runner/compile.js'
import { processesOf, testFiles } from '../runner/tap.js'
import { Coverage } from './coverage.js'
import { mistakes } from './mistakes.js'
import { Tree } from './tree.js'

const CONFIGURATIONS = ['3', '8', '12', '17']
/** Folders of tests, in the order in which they are tried. */
const NEAREST = ['unit', 'testing', 'flow', 'attacks', 'hosts', 'stores']

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

const rank = (name) => (NEAREST.indexOf(name.split('-')[1]) + 1) || NEAREST.length + 1

/** What became of a mistake, in words. */
async function outcome (tree, { find, replace, file: named }) {
  const place = placeOf({ find, file: named })
  if (place === undefined) return 'gone'
  const { file, text } = place
  const first = text.slice(0, text.indexOf(find)).split('\n').length - 1
  const processes = coverage.processesAt(file, first, first + find.split('\n').length - 1)
  const [contract, others] = [true, false].map((is) => processes.filter((name) => isContract(name) === is))
  const isNoticed = await tree.with(file, text.replace(find, () => replace), async () => {
    for (const CONFIGURATION of contract.length > 0 ? CONFIGURATIONS : []) {
      if (await tree.fails(contract, { CONFIGURATION })) return true
    }
    const nearest = [...others, ...contract].sort((one, other) => rank(one) - rank(other))
    return processes.length > 0 && await tree.fails(nearest)
  })
  if (isNoticed === undefined) return 'does not compile'
  return isNoticed ? 'noticed' : 'SURVIVED'
}

const counts = { noticed: 0, SURVIVED: 0, gone: 0, 'does not compile': 0 }
const queue = [...chosen]
await Promise.all(Array.from({ length: availableParallelism() }, async () => {
  const tree = new Tree()
  for (let one; (one = queue.shift()) !== undefined;) {
    const begun = performance.now()
    const word = await outcome(tree, one)
    counts[word]++
    console.log(`${word} (${Math.round((performance.now() - begun) / 1000)} s): ${one.mistake}`)
  }
  tree.remove()
}))
console.log(Object.entries(counts).map(([word, count]) => `${count} ${word}`).join(', '))
process.exit(counts.SURVIVED === 0 ? 0 : 1)
