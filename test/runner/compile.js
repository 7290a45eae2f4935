// Compiles lib and the tests into `compiled`, a tree like this one, so that Node reads plain JavaScript.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const COMPILED = 'compiled'

/** What the tests read beside their own files. */
export const LINKED = ['package.json', 'README.md', '.github', 'node_modules']

/** What a build makes, and tests load. */
export const BUILT = ['dist', 'examples/dist']

/** Compiles all: it takes a second or two. Tests find in `dist` and `examples/dist` only what has just been built. */
export async function compile ({ built = BUILT } = {}) {
  rmSync(COMPILED, { recursive: true, force: true })
  execFileSync('node_modules/.bin/tsc', ['-p', 'test'], { stdio: 'inherit' })
  for (const folder of ['lib', 'test']) cpSync(folder, join(COMPILED, folder), { recursive: true, filter: isNoSource })
  mkdirSync(join(COMPILED, 'examples'), { recursive: true })
  for (const path of [...LINKED, ...built]) symlinkSync(join(process.cwd(), path), join(COMPILED, path))
  for (const path of readdirSync(join(COMPILED, 'test'), { recursive: true })) {
    if (path.endsWith('.js')) renameLoaded(join(COMPILED, 'test', path))
  }
  for (const path of readdirSync(join(COMPILED, 'lib'), { recursive: true })) {
    if (path.endsWith('.js')) removeTypes(join(COMPILED, 'lib', path))
  }
  await bundleTypebox()
}

const isNoSource = (path) => !/\.(?:c|m)?ts$|tsconfig\.json$|\/bench(?:\/|$)/.test(path)

/** A module that a test names in a text, to mock or to fork it, has another name now; of the same length. */
function renameLoaded (path) {
  const text = readFileSync(path, 'utf8')
  const renamed = text.replaceAll(/(['"])((?:\.{1,2}\/[\w./-]*)?[\w-]+)\.ts\1/g, '$1$2.js$1')
  if (renamed !== text) writeFileSync(path, renamed)
}

/** Of a file of types alone nothing is left to load, nor to cover. */
function removeTypes (path) {
  if (readFileSync(path, 'utf8').startsWith('export {};')) rmSync(path)
}

/** TypeBox is hundreds of files, and V8 measures each that is loaded. */
async function bundleTypebox () {
  const file = join(COMPILED, 'lib/typebox.js')
  // Not before the dependencies are installed: test/run.js does that.
  const { build } = await import('esbuild')
  const here = { entryPoints: [file], outfile: file, allowOverwrite: true }
  await build({ ...here, bundle: true, format: 'esm', platform: 'node' })
}
