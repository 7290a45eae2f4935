// Hosts of all kinds sign in with the installed package and its portal double: ES modules, CommonJS, and TypeScript as
// the oldest and the newest compiler compile it.
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mustRun } from '../package/commands.js'
import { cwd } from './installed.ts'

const run = (...args: string[]): string => mustRun('node', args, { cwd })

t.test('JavaScript', async (t) => {
  t.equal(run('host.mjs'), 'alice\n', 'an ES module')
  t.equal(run('host.cjs'), 'alice\n', 'CommonJS')
})

t.test('what it adds to a host of Fastify', async (t) => {
  const added = '#fastify-partner-sso, #fastify-partner-sso *:not(#fastify, #fastify *)'
  const found = JSON.parse(mustRun('npm', ['query', added], { cwd })) as Array<{ location: string }>
  t.ok(found.some(({ location }) => location === 'node_modules/ioredis'))
  const { packages } = JSON.parse(readFileSync(join(cwd, 'node_modules/.package-lock.json'), 'utf8'))
  const withScript = found.filter(({ location }) => packages[location].hasInstallScript)
  t.strictSame(withScript, [], 'no script runs when they are installed')
  const newer = found.filter(({ location }) => /^>=\s*2[2-9]/.test(packages[location].engines?.node))
  t.strictSame(newer, [], 'npm does not warn of Node 20')
})

t.test('TypeScript, strict, with skipLibCheck: false, as an ES module and as CommonJS', async (t) => {
  copyFileSync(join(cwd, 'typed.mts'), join(cwd, 'typed.cts'))
  t.equal(mustRun('node_modules/.bin/tsc', ['--outDir', 'typed', '--checkers', '1'], { cwd }), '', 'compiles')
  for (const file of ['typed.mjs', 'typed.cjs']) t.equal(run(join('typed', file)), 'alice\n', file)
})

t.test('moduleResolution: node10, the default of older projects, which knows no exports', async (t) => {
  t.equal(run('compile.cjs'), '', 'both entries have their types')
  t.equal(run('node10/host.js'), 'alice\n')
})
