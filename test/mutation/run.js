// Does a test fail when the protocol is broken?
//
//   node test/mutation/run.js [part of a sentence ...] [--tests folder ...]
//
// Each mistake of mistakes.js is made alone in the compiled tree, and the tests run until one fails. By default the
// contract suite in four configurations, then the unit tests. A mistake that no test notices is printed; exit 1.
import { transform } from 'esbuild'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { COMPILED, compile } from '../runner/compile.js'
import { processesOf, runTap, testFiles } from '../runner/tap.js'
import { mistakes } from './mistakes.js'

const CONFIGURATIONS = ['3', '8', '12', '17']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string', multiple: true, default: ['test/unit', 'test/flow'] } }
})

/** Core files and their texts: the portal's side is for its own tests. */
const sources = readdirSync('lib', { recursive: true })
  .filter((file) => file.endsWith('.ts') && !/^(?:testing|simulator)\//.test(file))
  .map((file) => ({ file, text: readFileSync(join('lib', file), 'utf8') }))

/** Where the fragment stands; undefined unless it stands there once. */
function placeOf (fragment) {
  const found = sources.filter(({ text }) => text.includes(fragment))
  const isOnce = found.length === 1 && found[0].text.split(fragment).length === 2
  return isOnce ? found[0] : undefined
}

/** The JavaScript of a source with the mistake. */
async function broken ({ file, text }, fragment, instead) {
  const { code } = await transform(text.replace(fragment, () => instead), { loader: 'ts', sourcefile: file })
  return code.replaceAll(/(from ")(\.{1,2}\/[^"]*)\.ts"/g, '$1$2.js"')
}

/** Whether a test fails. */
async function isNoticed (processes) {
  const fails = async (environment, files) => {
    Object.assign(process.env, environment)
    return !(await runTap(['--disable-coverage', '--bail', '--jobs=2', '--timeout=120'], files, () => {})).ok
  }
  for (const number of CONFIGURATIONS) {
    if (await fails({ CONFIGURATION: number }, processes.contract)) return true
  }
  return await fails({}, processes.others)
}

await compile()
const [contract, ...others] = processesOf([...testFiles(['test/contract']), ...testFiles(values.tests)])
const chosen = mistakes.filter(([sentence]) =>
  positionals.length === 0 || positionals.some((part) => sentence.includes(part)))
let [noticed, survived, gone] = [0, 0, 0]
for (const [sentence, fragment, instead] of chosen) {
  const place = placeOf(fragment)
  if (place === undefined) {
    gone++
    console.log(`gone: ${sentence}`)
    continue
  }
  const path = join(COMPILED, 'lib', place.file.replace(/\.ts$/, '.js'))
  const right = readFileSync(path)
  writeFileSync(path, await broken(place, fragment, instead))
  const isFound = await isNoticed({ contract: [contract], others })
  writeFileSync(path, right)
  if (isFound) noticed++
  else survived++
  console.log(`${isFound ? 'noticed' : 'SURVIVED'}: lib/${place.file}: ${sentence}`)
}
console.log(`${noticed} noticed, ${survived} survived, ${gone} without a place`)
process.exit(survived === 0 ? 0 : 1)
