// The coverage of lib: V8 measures it in the processes of the tests and in those that they start, c8 makes the report.
// `.tap/coverage` has it by process, for the runner of mistakes too.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const COVERAGE = '.tap/coverage'

/** To measure it takes time: the other processes cover all of lib. */
const isMeasured = (name) => !/^\d+-(?:browser|examples|interleavings|package)-/.test(name)

/** What V8 writes, before what concerns lib is kept. */
const RAW = '.tap/v8'

/** The coverage of no process. */
export function clearCoverage () {
  for (const folder of [COVERAGE, RAW]) rmSync(folder, { recursive: true, force: true })
  mkdirSync(COVERAGE, { recursive: true })
}

/** The environment of a process, and what keeps its coverage at its end. Undefined for one that is not measured. */
export function coverageOf (name) {
  if (!isMeasured(name)) return undefined
  const folder = join(RAW, name)
  mkdirSync(folder, { recursive: true })
  return { environment: { NODE_V8_COVERAGE: folder }, keep: (seconds) => keep(name, folder, seconds) }
}

/** V8 measures every module: only those of lib are kept. */
function keep (name, folder, seconds) {
  for (const [index, file] of readdirSync(folder).entries()) {
    const ours = measuredIn(join(folder, file)).filter(({ url }) => url.includes('/compiled/lib/'))
    writeFileSync(join(COVERAGE, `${name}.${index}.json`), JSON.stringify({ name, seconds, result: ours }))
  }
}

/** Nothing where a test killed the process while it wrote. */
function measuredIn (path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).result
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** The command that shows what is not covered, and fails then. */
export const REPORT = ['npx', 'c8', 'report', '--100', '--all', '--src=compiled/lib', `--temp-directory=${COVERAGE}`,
  '--include=compiled/lib/**', '--exclude=compiled/lib/{bundle,typebox}.js', '--skip-full', '--reporter=text']
