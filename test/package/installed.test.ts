// The packed tarball, installed in an empty folder by npm. Hosts of all kinds sign in there with the portal double of
// the package: ES modules, CommonJS, and TypeScript as three compilers compile it.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { emptyDirectory, packed, run } from './packed.ts'

const npmInstall = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

/** The compilers that hosts may have, and how each is run. */
const compilers = {
  'typescript-5.9': { version: '5.9.3', command: ['compile.cjs', 'typescript-5.9', 'typescript-5.9'] },
  'typescript-6': { version: '6.0.3', command: ['compile.cjs', 'typescript-6', 'typescript-6'] },
  // Quick enough to check the declarations of all packages.
  'typescript-7': { version: '7.0.2', command: ['node_modules/typescript-7/bin/tsc', '--outDir', 'typescript-7'] }
}

interface Installed {
  dependencies?: Record<string, string>
  engines?: { node?: string }
  hasInstallScript?: boolean
}

type Lock = Record<string, Installed>

/** A package in node_modules, and all that it depends on. */
function treeOf (lock: Lock, from: string, found = new Set<string>()): Set<string> {
  if (found.has(from)) return found
  found.add(from)
  for (const name of Object.keys(lock[from]?.dependencies ?? {})) {
    const nested = `${from}/node_modules/${name}`
    treeOf(lock, nested in lock ? nested : `node_modules/${name}`, found)
  }
  return found
}

const directory = await emptyDirectory(t)
await cp('test/package/hosts', directory, { recursive: true })
await writeFile(join(directory, 'package.json'), '{ "private": true }')
const aliases = Object.entries(compilers).map(([alias, { version }]) => `${alias}@npm:typescript@${version}`)
await run(directory, 'npm', ...npmInstall, (await packed()).tarball, 'fastify@5', '@types/node@20', ...aliases)

t.test('JavaScript', async (t) => {
  t.equal(await run(directory, 'node', 'host.mjs'), '"alice"\n', 'an ES module')
  t.equal(await run(directory, 'node', 'host.cjs'), '"alice"\n', 'CommonJS')
})

t.test('what npm installs with it', async (t) => {
  const { packages: lock } = JSON.parse(await readFile(join(directory, 'node_modules/.package-lock.json'), 'utf8'))
  const own = [...treeOf(lock, 'node_modules/fastify-partner-sso')]
  t.strictSame(own.filter((path) => lock[path] === undefined), [], 'all dependencies are known')
  t.strictSame(own.filter((path) => lock[path].hasInstallScript), [], 'none runs a script when it is installed')
  const direct = Object.keys(lock['node_modules/fastify-partner-sso'].dependencies).length
  t.comment(`${direct} direct run-time dependencies, ${own.length - 1} in all`)
  t.ok(own.length <= 25, 'few packages come with it')

  const ofFastify = treeOf(lock, 'node_modules/fastify')
  const newer = own.filter((path) => /^>=\s*2[2-9]/.test(lock[path].engines?.node ?? ''))
  t.strictSame(newer.filter((path) => !ofFastify.has(path)), [], 'npm warns of no Node version but where Fastify does')
})

t.test('TypeScript, strict, with skipLibCheck: false', async (t) => {
  for (const [alias, { command }] of Object.entries(compilers)) {
    t.equal(await run(directory, 'node', ...command), '', `${alias} compiles`)
    for (const file of ['typed.mjs', 'typed.cjs', 'required.cjs']) {
      t.equal(await run(directory, 'node', join(alias, file)), '"alice"\n', `${alias}: ${file}`)
    }
  }
})
