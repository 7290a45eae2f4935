// Compiles lib, the tests and the examples that they import into `compiled`, by esbuild: all of them in less than half
// a second. It checks no types; `npm run types` does.
//
// All test files of a folder run in one process, since loading tap and Fastify takes longer than most files do:
// compiled/folders/unit.js, which is written here, imports those of test/unit. `x.alone.test.ts` has a process of its
// own.
import { build } from 'esbuild'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'

/** Files that are not loaded from `compiled`: declarations, programs that run as they are, and hosts of the package. */
const NOT_COMPILED = /\.d\.ts$|^lib\/bundle\.js$|^test\/(?:[^/]*\.js$|bench\/|package\/(?:hosts|runners)\/)/
/** Of the examples, those that tests import. Nest's need TypeScript's decorators. */
const EXAMPLES = /^examples\/(?:logins\/)?[^/]*\.ts$/

const filesBelow = (folder) => readdirSync(folder, { recursive: true }).map((name) => `${folder}/${name}`)

const examples = filesBelow('examples').filter((file) => EXAMPLES.test(file))
const sources = [...filesBelow('lib'), ...filesBelow('test'), ...examples]
  .filter((file) => /\.[jt]s$/.test(file) && !NOT_COMPILED.test(file))

/** Each file is compiled alone: an import of another leads to that file's own output. */
const oneByOne = {
  name: 'one-by-one',
  setup ({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/\.ts$/, '.js'), external: true })
  }
}

const settings = {
  bundle: true, format: 'esm', platform: 'node', target: 'es2022', outdir: 'compiled', outbase: '.', logLevel: 'warning'
}

/** Removes what was compiled of files that are gone. */
function removeStale () {
  const expected = new Set(sources.map((file) => file.replace(/\.ts$/, '.js')))
  const compiled = filesBelow('compiled').map((file) => file.slice('compiled/'.length))
  for (const file of compiled) if (/^(?!folders).*\.js$/.test(file) && !expected.has(file)) rmSync(`compiled/${file}`)
}

/** Compiles all, and writes the programs that import the tests of a folder. Throws where a file cannot be read. */
export async function compile () {
  const typebox = 'lib/typebox.ts'
  await Promise.all([
    build({
      ...settings,
      entryPoints: sources.filter((file) => file !== typebox),
      packages: 'external',
      plugins: [oneByOne],
      sourcemap: 'inline',
      treeShaking: false
    }),
    // Bundled, as the package has it: TypeBox is 700 files.
    build({ ...settings, entryPoints: [typebox] })
  ])
  removeStale()
  const tests = sources.filter((file) => /^test\/[^/]+\/.*(?<!\.alone)\.test\.ts$/.test(file)).sort()
  mkdirSync('compiled/folders', { recursive: true })
  for (const folder of new Set(tests.map((file) => file.split('/')[1]))) {
    const together = tests.filter((file) => file.startsWith(`test/${folder}/`))
    const imports = together.map((file) => `import '../${file.slice(0, -'ts'.length)}js'\n`)
    writeFileSync(`compiled/folders/${folder}.js`, imports.join(''))
  }
}

if (process.argv[1] === import.meta.filename) await compile()
