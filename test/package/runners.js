// `node test/package/runners.js`: node:test, Vitest and Jest run a test that signs in with the portal double, each with
// the packed package in an empty host. Prints a table; exit 1 when something fails. The tests and the settings of Jest
// are in `test/package/runners`, as lib/testing/README.md shows them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostWith, onNode, pack } from './commands.js'

const tests = readdirSync('test/package/runners').map((file) => `test/package/runners/${file}`)
const files = [...tests, 'test/package/hosts/sign-in.cjs']
const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'vitest.test.mjs']
const jest = (config) => ['node_modules/jest/bin/jest.js', '--config', config]

const runners = [
  { name: 'node:test', called: 'in-process', packages: [], args: ['--test', 'node.test.mjs'], nodes: ['20'] },
  { name: 'vitest', called: 'in-process', packages: ['vitest@4'], args: vitest, nodes: ['20'] },
  { name: 'vitest', called: 'in-process', packages: ['vitest@5'], args: vitest, nodes: ['22'] },
  {
    name: 'jest',
    called: 'in-process, transformed by babel-jest',
    packages: ['jest@30', '@babel/core@7', '@babel/preset-env@7'],
    args: jest('jest.babel.json'),
    nodes: ['20', '22'],
    env: { IN_PROCESS: '1' }
  },
  {
    name: 'jest',
    called: 'by `baseUrl`, as ES modules',
    packages: ['jest@30'],
    args: ['--experimental-vm-modules', ...jest('jest.modules.json')],
    nodes: ['20', '22']
  }
]

const tarball = pack()

console.log('| Runner | Node | the app is called | sign-in |\n|---|---|---|---|')
for (const { name, called, packages, args, nodes, env } of runners) {
  const folder = hostWith(files, [tarball, 'fastify@5', ...packages])
  const manifest = join(folder, 'node_modules', name, 'package.json')
  const runner = packages.length === 0 ? name : `${name} ${JSON.parse(readFileSync(manifest, 'utf8')).version}`
  for (const node of nodes) {
    const version = onNode(node, ['--print', 'process.versions.node']).stdout.trim()
    const { ok, stdout, stderr } = onNode(node, args, { cwd: folder, env })
    if (!ok) console.error(`${name} on Node ${node}:\n${stdout}${stderr}`)
    if (!ok) process.exitCode = 1
    console.log(`| ${runner} | ${version} | ${called} | ${ok ? 'ok' : 'fails'} |`)
  }
}
