// Does a test fail when the code is broken?
//
//   npm test                                              # leaves the coverage that tells which tests run a line
//   node test/mutation/run.js [part of a sentence ...] [--mistakes file.json]
//
// Each mistake is made alone in a copy of the compiled tree. The tests that run its lines are tried until one fails:
// the contract suite in four configurations, then the others, first those that are short and have noticed most so far.
// The outcome of each is printed; exit 1 when one survived. A file has mistakes of its own: [{ "mistake", "file",
// "find", "replace" }].
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

/** How many mistakes each process was tried with, and noticed. */
const records = new Map()
const recordOf = (name) => records.get(name) ?? { tried: 0, noticed: 0 }

/** Milliseconds of a process for each mistake that it may notice. */
function cost (name) {
  const { tried, noticed } = recordOf(name)
  return coverage.timeOf(name) * (tried + 2) / (noticed + 1)
}

/** The process that notices the mistake in the tree. */
async function noticing (tree, processes) {
  for (const name of processes.toSorted((one, other) => cost(one) - cost(other))) {
    const fails = await tree.fails(name)
    const { tried, noticed } = recordOf(name)
    records.set(name, { tried: tried + 1, noticed: noticed + Number(fails) })
    if (fails) return name
  }
  return undefined
}

/** What became of a mistake, and the process that noticed it. */
async function outcome (tree, { find, replace, file: named }) {
  const place = placeOf({ find, file: named })
  if (place === undefined) return ['gone']
  const { file, text } = place
  const first = text.slice(0, text.indexOf(find)).split('\n').length - 1
  const processes = coverage.processesAt(file, first, first + find.split('\n').length - 1)
  const [contract] = processes.filter(isContract)
  const noticedBy = await tree.with(file, text.replace(find, () => replace), async () => {
    for (const CONFIGURATION of contract === undefined ? [] : CONFIGURATIONS) {
      if (await tree.fails(contract, { CONFIGURATION })) return `configuration ${CONFIGURATION}`
    }
    return await noticing(tree, processes) ?? null
  })
  if (noticedBy === undefined) return ['does not compile']
  return noticedBy === null ? ['SURVIVED'] : ['noticed', noticedBy]
}

const counts = { noticed: 0, SURVIVED: 0, gone: 0, 'does not compile': 0 }
const queue = [...chosen]
await Promise.all(Array.from({ length: availableParallelism() }, async () => {
  const tree = new Tree()
  for (let one; (one = queue.shift()) !== undefined;) {
    const begun = performance.now()
    const [word, by = ''] = await outcome(tree, one)
    counts[word]++
    const seconds = Math.round((performance.now() - begun) / 1000)
    console.log(`${word} (${[by, `${seconds} s`].filter(Boolean).join(', ')}): ${one.mistake}`)
  }
  tree.remove()
}))
console.log(Object.entries(counts).map(([word, count]) => `${count} ${word}`).join(', '))
process.exit(counts.SURVIVED === 0 ? 0 : 1)
