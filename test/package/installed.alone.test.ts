// The packed tarball, installed in an empty folder by npm. Hosts of all kinds sign in there with the portal double of
// the package: ES modules, CommonJS, and TypeScript as the oldest and the newest compiler compile it.
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hostWith, mustRun, packed } from './commands.js'

/** The compilers that hosts may have, and how each is run. That of this package compiles the examples. */
const compilers = {
  'typescript-5.9': {
    version: '5.9.3',
    command: ['compile.cjs', 'typescript-5.9', 'tsconfig.json', 'typescript-5.9']
  },
  // Quick enough to check the declarations of all packages.
  'typescript-7': {
    version: '7.0.2',
    command: ['node_modules/typescript-7/bin/tsc', '--outDir', 'typescript-7']
  }
}

const hosts = readdirSync('test/package/hosts').map((file) => `test/package/hosts/${file}`)
const aliases = Object.entries(compilers).map(([alias, { version }]) => `${alias}@npm:typescript@${version}`)
const cwd = hostWith(hosts, [packed().tarball, 'fastify@5', '@types/node@20', ...aliases])
copyFileSync(join(cwd, 'typed.mts'), join(cwd, 'typed.cts'))
const run = (...args: string[]): string => mustRun('node', args, { cwd })

t.test('JavaScript', async (t) => {
  t.equal(run('host.mjs'), 'alice\n', 'an ES module')
  t.equal(run('host.cjs'), 'alice\n', 'CommonJS')
})

t.test('what it adds to a host of Fastify', async (t) => {
  const added = '#fastify-partner-sso, #fastify-partner-sso *:not(#fastify, #fastify *)'
  const found = JSON.parse(mustRun('npm', ['query', added], { cwd })) as Array<{ location: string }>
  const { packages: lock } = JSON.parse(readFileSync(join(cwd, 'node_modules/.package-lock.json'), 'utf8'))
  const packages = found.map(({ location }) => lock[location])
  t.strictSame(packages.filter(({ hasInstallScript }) => hasInstallScript), [], 'none runs a script when installed')
  t.strictSame(packages.filter(({ engines }) => /^>=\s*2[2-9]/.test(engines?.node ?? '')), [],
    'npm warns of no Node version but where Fastify does')
  t.comment(`${packages.length - 1} packages`)
  t.ok(packages.length > 5 && packages.length <= 20, 'they are few')
})

t.test('TypeScript, strict, with skipLibCheck: false', async (t) => {
  for (const [alias, { command }] of Object.entries(compilers)) {
    t.equal(run(...command), '', `${alias} compiles`)
    for (const file of ['typed.mjs', 'typed.cjs']) {
      t.equal(run(join(alias, file)), 'alice\n', `${alias}: ${file}`)
    }
  }
})

t.test('moduleResolution: node10, the default of older projects, which knows no exports', async (t) => {
  const compiled = run('compile.cjs', 'typescript-5.9', 'node10/tsconfig.json', 'node10')
  t.equal(compiled, '', 'both entries have their types')
  t.equal(run('node10/host.js'), 'alice\n')
})
