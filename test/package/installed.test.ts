// The packed tarball, installed in an empty folder by npm. Hosts of all kinds sign in there with the portal double of
// the package: ES modules, CommonJS, and TypeScript as the oldest and the newest compiler compile it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hostWith, mustRun, packed } from './commands.js'

/** The compilers that hosts may have, and how each is run. That of this package compiles the examples. */
const compilers = {
  'typescript-5.9': { version: '5.9.3', command: ['compile.cjs', 'typescript-5.9', 'typescript-5.9'] },
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

const hosts = readdirSync('test/package/hosts').map((file) => `test/package/hosts/${file}`)
const aliases = Object.entries(compilers).map(([alias, { version }]) => `${alias}@npm:typescript@${version}`)
const cwd = hostWith(hosts, [packed().tarball, 'fastify@5', '@types/node@20', ...aliases])
const run = (...args: string[]): string => mustRun('node', args, { cwd })

t.test('JavaScript', async (t) => {
  t.equal(run('host.mjs'), '"alice"\n', 'an ES module')
  t.equal(run('host.cjs'), '"alice"\n', 'CommonJS')
})

t.test('what npm installs with it', async (t) => {
  const { packages: lock } = JSON.parse(readFileSync(join(cwd, 'node_modules/.package-lock.json'), 'utf8'))
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
    t.equal(run(...command), '', `${alias} compiles`)
    for (const file of ['typed.mjs', 'typed.cjs']) t.equal(run(join(alias, file)), '"alice"\n', `${alias}: ${file}`)
  }
})
