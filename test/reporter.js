// What the tests print: one line when a file or folder ends, with its time, and its failures in full; at the end the
// slowest, what failed, and one line with the counts. For tap (.taprc), and for `npm run only`.
import { inspect } from 'node:util'

/** How many of the slowest tests are named, and from how many milliseconds on. */
const SLOWEST = { count: 8, from: 1000 }

/** Characters of a name that are printed. */
const LONGEST = 200

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`.padStart(8)

/** The source of a compiled file: test/unit, test/unit/memory.alone.test.ts. */
const sourceOf = (name) =>
  name.replace(/^compiled\/folders\/(.*)\.js$/, 'test/$1').replace(/^compiled\/(.*)\.js$/, '$1.ts')

const indented = (text, by = '    ') => text.trimEnd().replace(/^(?=.)/gm, by)

/** Members of a failure's diagnostics that are printed in another way, or say nothing. */
const KNOWN = ['at', 'source', 'diff', 'stack', 'errorOrigin', 'test', 'location']

/** The remaining diagnostics: a difference has what was found and wanted. */
function remainder (diag) {
  const hidden = diag.diff === undefined ? KNOWN : [...KNOWN, 'found', 'wanted']
  const facts = Object.entries(diag).filter(([name]) => !hidden.includes(name))
  return facts.length === 0 ? '' : inspect(Object.fromEntries(facts), { depth: 8, breakLength: 110 })
}

/** A failure by its place and the names of its tests: `test/unit/pkce.test.ts:7: the example of the RFC > …`. */
function titleOf ({ fullname, diag }, process) {
  const place = diag?.at?.fileName === undefined ? sourceOf(process.name) : `${diag.at.fileName}:${diag.at.lineNumber}`
  return `${place}: ${fullname.replace(`${process.name} > `, '')}`.slice(0, LONGEST)
}

/** What is known of a failure: its source, and in what the values differ. */
function described ({ diag = {} }) {
  const { source = '', diff = '', stack = '' } = diag
  const parts = [source, diff, remainder(diag), stack].filter((part) => part.trim() !== '')
  return parts.map((part) => `${indented(part)}\n`).join('')
}

/** How a process ended that did not end by itself. */
function endOf ({ timedOut, lists, options: { signal, exitCode } }) {
  const hasExpired = timedOut || lists.fail.some(({ diag }) => diag?.expired !== undefined)
  if (hasExpired) return 'ended by its time limit'
  if (signal) return `ended by ${signal}`
  if (exitCode && lists.fail.length === 0) return `ended with exit code ${exitCode}`
  return ''
}

/** Prints what happens in tap's root test, whose subtests are processes. */
export function report (root) {
  const times = []
  const failed = []
  /** What each process writes beside the results of its tests. */
  const written = new Map()
  root.on('subtestStart', (process) => {
    const name = sourceOf(process.name)
    const note = (text) => written.set(process, `${written.get(process) ?? ''}${text}`)
    process.parser.on('extra', note)
    process.on('process', (child) => child.stderr?.on('data', note))
    process.parser.on('assert', ({ name: test, time = 0 }) => {
      times.push({ name: `${name}: ${test}`.slice(0, LONGEST), time })
    })
  })
  root.on('subtestEnd', (process) => {
    const [name, end] = [sourceOf(process.name), endOf(process)]
    const isPassed = end === '' && process.results?.ok === true
    console.log(`${isPassed ? 'passed' : 'FAILED'} ${seconds(process.time)}  ${name}${end === '' ? '' : `: ${end}`}`)
    if (isPassed) return
    if (end !== '') failed.push(`${name}: ${end}`)
    for (const result of process.lists.fail) {
      const title = titleOf(result, process)
      failed.push(title)
      console.log(`\n  ${title}\n${described(result)}`)
    }
    if (written.has(process)) console.log(indented(written.get(process)))
  })
  root.on('complete', () => {
    const slowest = times.filter(({ time }) => time >= SLOWEST.from)
      .sort((one, other) => other.time - one.time).slice(0, SLOWEST.count)
    if (slowest.length > 0) console.log('\nThe slowest tests:')
    for (const { name, time } of slowest) console.log(`${seconds(time)}  ${name}`)
    if (failed.length > 0) console.log(`\nFailed:\n${indented(failed.join('\n'), '  ')}`)
  })
  process.once('exit', (code) => {
    const { pass, fail } = root.counts
    // Nothing is a test of it where the coverage of lib is not complete.
    console.log(`\n${pass} passed, ${fail === 0 && code !== 0 ? 1 : fail} failed`)
  })
}

let isReporting = false

/** tap's reporter is a component of React. This one renders nothing. */
export default function Reporter ({ test }) {
  if (!isReporting) report(test)
  isReporting = true
  return null
}
