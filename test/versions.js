// The package with what a host may have, one combination at a time; CI tries many each week.
//
//   node test/versions.js --fastify 5.0.0 [--node 24]   the tests of contract, flow and hosts with this Fastify
//   node test/versions.js --nest 11 [--node 24]         the tests of NestJS hosts
//   node test/versions.js --manager pnpm                installs the package as it ships, and signs in
//   node test/versions.js --runner jest [--node 24]     a host's test, by the double of the package as it ships
//
// Without --node: the Node that runs this program. The whole suite on another Node: `npx -p node@24 npm test`.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { hostWith, mustRun, onNode, pack } from './package/commands.js'

const { values: { fastify, nest, manager, runner, node } } = parseArgs({
  options: {
    fastify: { type: 'string' },
    nest: { type: 'string' },
    manager: { type: 'string' },
    runner: { type: 'string' },
    node: { type: 'string', default: process.versions.node.split('.')[0] }
  }
})

/** Runs a program on the version of Node; this one ends with its outcome. */
function end (args, options) {
  const { ok } = onNode(node, args, { ...options, stdio: 'inherit' })
  process.exit(ok ? 0 : 1)
}

/** The tests, compiled, by their files or folders. */
function test (files, env) {
  mustRun('npm', ['run', '-s', 'compile'])
  end(['node_modules/.bin/tap', '--disable-coverage', ...files.map((file) => `compiled/${file}.js`)], { env })
}

function withFastify () {
  const folder = hostWith([], [`fastify@${fastify}`])
  const FASTIFY = pathToFileURL(join(folder, 'node_modules/fastify/fastify.js')).href
  test(['test/contract/contract.alone.test', 'folders/flow', 'folders/hosts'], { FASTIFY })
}

function withNest () {
  const packages = ['common', 'core', 'platform-fastify'].map((name) => `@nestjs/${name}@${nest}`)
  const NEST = hostWith(['test/hosts/nest-host.mjs'], [pack(), ...packages, 'reflect-metadata@0.2', 'rxjs@7'])
  test(['test/hosts/nest.alone.test'], { NEST })
}

const yarn = ['npx', '--yes', '@yarnpkg/cli-dist']

/**
 * How each of them adds packages to a project, and runs Node in it. `cookie` 2, which Fastify's own `light-my-request`
 * depends on, asks for Node 22: Yarn 1 refuses it on Node 20. Plug'n'Play has no loader for what CommonJS requires of
 * an ES module.
 */
const managers = {
  npm: {},
  pnpm: { add: ['npx', '--yes', 'pnpm', 'add'] },
  yarn1: { add: ['npx', '--yes', 'yarn@1', 'add', '--no-lockfile', '--non-interactive', '--ignore-engines'] },
  yarn: { add: [...yarn, 'add'], linker: 'node-modules' },
  'yarn-pnp': { add: [...yarn, 'add'], linker: 'pnp', node: [...yarn, 'node'], hosts: ['host.mjs'] }
}

function withManager () {
  const { add, linker, node = ['node'], hosts = ['host.mjs', 'host.cjs'] } = managers[manager]
  // The registry that npm is set to is for the others as well.
  const registry = mustRun('npm', ['config', 'get', 'registry']).trim()
  const env = { npm_config_registry: registry, YARN_NPM_REGISTRY_SERVER: registry, YARN_ENABLE_TELEMETRY: '0' }
  if (linker !== undefined) env.YARN_NODE_LINKER = linker
  const tarball = pack()
  const name = manager.startsWith('yarn') ? `fastify-partner-sso@${tarball}` : tarball
  const files = ['sign-in.cjs', ...hosts].map((file) => `test/package/hosts/${file}`)
  const cwd = hostWith(files, [name, 'fastify@5'], { add, env })
  for (const host of hosts) {
    const printed = mustRun(node[0], [...node.slice(1), host], { cwd, env })
    if (printed !== 'alice\n') throw new Error(`${host} printed ${printed}`)
    console.log(`${manager}: ${host} signs in`)
  }
}

const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'vitest.test.mjs']
const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--config', 'jest.json']

/** What each of them needs, as lib/testing/README.md says it. */
const runners = {
  node: { args: ['--test', 'node.test.mjs'] },
  'vitest-4': { packages: ['vitest@4'], args: vitest },
  'vitest-5': { packages: ['vitest@5'], args: vitest },
  jest: { packages: ['jest@30'], args: jest }
}

function withRunner () {
  const { packages = [], args } = runners[runner]
  const tests = readdirSync('test/package/runners').map((file) => `runners/${file}`)
  const files = [...tests, 'hosts/sign-in.cjs'].map((file) => `test/package/${file}`)
  end(args, { cwd: hostWith(files, [pack(), 'fastify@5', ...packages]) })
}

if (fastify !== undefined) withFastify()
else if (nest !== undefined) withNest()
else if (manager in managers) withManager()
else if (runner in runners) withRunner()
else throw new Error('Name one of --fastify, --nest, --manager and --runner')
