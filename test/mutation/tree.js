// The copy of the tree that the mutation run works in: JavaScript, with every mutant asleep in lib.
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { mistakes } from './mistakes.js'
import { mutate } from './mutants.js'

export const root = resolve(import.meta.dirname, '../..')

const compilerOptions = {
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true
}

/** Writes the copy. Returns its folder, all mutants, and the mistakes in the files asked for, with their places. */
export function makeTree (isAskedFor) {
  const copy = mkdtempSync(join(tmpdir(), 'partner-sso-mutation-'))
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
  const mutants = []
  for (const path of [...typescriptIn('lib'), ...typescriptIn('test')]) {
    const text = readFileSync(join(root, path), 'utf8')
    if (!path.startsWith('lib/')) {
      write(copy, path, text)
      continue
    }
    const result = mutate(path, text, mutants.length + 1)
    write(copy, path, result.text)
    mutants.push(...result.mutants)
  }
  for (const name of ['package.json', 'node_modules', 'examples', 'README.md', 'dist']) {
    if (existsSync(join(root, name))) symlinkSync(join(root, name), join(copy, name))
  }
  for (const file of readdirSync(join(root, 'test'), { recursive: true })) {
    if (/\.(?:js|json|pem)$/.test(file)) cpSync(join(root, 'test', file), join(copy, 'test', file))
  }
  writeFileSync(join(copy, 'awake.mjs'), AWAKE)
  writeFileSync(join(copy, 'hooks.mjs'), HOOKS)
  return { copy, mutants, mistakes: placeMistakes(copy, mistakes.filter(isAskedFor)) }
}

function typescriptIn (folder) {
  return readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
}

function write (copy, path, text) {
  const target = join(copy, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, compile(path, text))
}

function compile (path, text) {
  const settings = { fileName: path, compilerOptions, reportDiagnostics: true }
  const { outputText, diagnostics: [wrong] } = ts.transpileModule(text, settings)
  if (wrong !== undefined) throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(wrong.messageText, ' ')}`)
  return outputText.replace(/(['"])(\.{1,2}\/[^'"]*|[\w-]+)\.ts\1/g, '$1$2.js$1')
}

/** Compiles each mistake into a file of its own, which stands in for the right one where the mistake is awake. */
function placeMistakes (copy, list) {
  mkdirSync(join(copy, 'mistakes'))
  const wrong = []
  const placed = list.map((mistake, index) => {
    const { name, path, find, put } = mistake
    const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : ''
    const places = text.split(find).length - 1
    if (places !== 1) {
      wrong.push(`"${name}": its text is found ${places} times in ${path}`)
      return null
    }
    const at = text.indexOf(find)
    const line = text.slice(0, at).split('\n').length
    const file = join(copy, 'mistakes', `${index + 1}.js`)
    writeFileSync(file, compile(path, text.replace(find, () => put)))
    const target = join(copy, path.replace(/\.ts$/, '.js'))
    return { ...mistake, id: `mistake ${index + 1}`, line, lastLine: line + find.split('\n').length - 1, file, target }
  })
  const twice = list.filter(({ name }, index) => list.findIndex((other) => other.name === name) !== index)
  wrong.push(...twice.map(({ name }) => `"${name}" is listed twice`))
  if (wrong.length > 0) throw new Error(`test/mutation/mistakes.js must be corrected:\n${wrong.join('\n')}`)
  return placed
}

// Runs first in each process: tells which mutants are met, or awakens one mutant or one mistake.
const AWAKE = `
import { register } from 'node:module'
import { writeFileSync } from 'node:fs'
const { MUTANT, MISTAKE, INSTEAD_OF, SEEN } = process.env
const awake = Number(MUTANT)
const seen = new Set()
globalThis.__mutant = SEEN === undefined ? (id) => id === awake : (id) => { seen.add(id); return false }
if (SEEN !== undefined) process.on('exit', () => writeFileSync(SEEN + '/' + process.pid, JSON.stringify([...seen])))
if (MISTAKE !== undefined) register('./hooks.mjs', import.meta.url, { data: { MISTAKE, INSTEAD_OF } })
`

const HOOKS = `
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
let mistake
let url
export function initialize ({ MISTAKE, INSTEAD_OF }) {
  mistake = MISTAKE
  url = pathToFileURL(INSTEAD_OF).href
}
export async function load (wanted, context, nextLoad) {
  // A module that is imported with mocks has a query.
  if (wanted.replace(/\\?.*/, '') !== url) return await nextLoad(wanted, context)
  return { format: 'module', source: readFileSync(mistake, 'utf8'), shortCircuit: true }
}
`
