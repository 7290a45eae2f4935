// The module hooks that typescript.js registers. They run in a thread of their own.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const options = {
  target: 'es2022', module: 'esnext', verbatimModuleSyntax: true, inlineSourceMap: true, inlineSources: true
}
const folder = join(import.meta.dirname, '../../.tap/compiled')
mkdirSync(folder, { recursive: true })

/** Where compile.js bundles TypeBox: each of its hundreds of files would pass tap's hooks and these. */
export const typeboxFolder = join(folder, `typebox-${versionOf('typebox')}`)

/**
 * Finds `./users.js` in `./users.ts`: the examples import each other by the names of what they are compiled to. And
 * what lib uses of TypeBox in its bundle.
 */
export async function resolve (specifier, context, nextResolve) {
  const bundle = join(typeboxFolder, `${specifier.replace('typebox/', '')}.mjs`)
  if (specifier.startsWith('typebox/') && existsSync(bundle)) {
    return { url: pathToFileURL(bundle).href, shortCircuit: true }
  }
  try {
    return await nextResolve(specifier, context)
  } catch (error) {
    const isExample = /^\.{1,2}\/.*\.js$/.test(specifier) && /\.ts(?:\?|$)/.test(context.parentURL)
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !isExample) throw error
    return await nextResolve(specifier.replace(/\.js$/, '.ts'), context)
  }
}

/** Gives Node the JavaScript of a TypeScript file. */
export async function load (url, context, nextLoad) {
  // `t.mockImport` loads a further copy of a module: by its URL with a query.
  if (!/^file:[^?]*\.ts(?:\?|$)/.test(url) || url.includes('/node_modules/')) return await nextLoad(url, context)
  return { format: 'module', source: await compiled(fileURLToPath(url)), shortCircuit: true }
}

/** The JavaScript of a file, compiled now or by an earlier process. */
export async function compiled (path) {
  const text = readFileSync(path, 'utf8')
  const name = createHash('sha256').update(JSON.stringify([path, text, options])).digest('hex')
  const kept = join(folder, `${name}.js`)
  try {
    return readFileSync(kept, 'utf8')
  } catch {
    const { default: ts } = await import('typescript')
    const compilerOptions = ts.convertCompilerOptionsFromJson(options, '.').options
    const { outputText } = ts.transpileModule(text, { fileName: path, compilerOptions })
    // Other processes may read the file at any time: it appears whole or not at all.
    const draft = join(folder, `${name}.${process.pid}`)
    writeFileSync(draft, outputText)
    renameSync(draft, kept)
    return outputText
  }
}

/** The version of a package that is installed. */
function versionOf (name) {
  const manifest = join(import.meta.dirname, '../../node_modules', name, 'package.json')
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}
