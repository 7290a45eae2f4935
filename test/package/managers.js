// `node test/package/managers.js`: installs the packed package by npm, pnpm and Yarn, each into an empty host, and
// signs in there from an ES module and from CommonJS. Prints a table; exit 1 when something fails.
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyFolder, mustRun, pack, run } from './commands.js'

/**
 * How each of them adds packages to a project. `cookie` 2, which Fastify's own `light-my-request` depends on, asks for
 * Node 22: npm warns of it on Node 20, Yarn 1 refuses without `--ignore-engines`. Plug'n'Play has no loader for what
 * CommonJS requires of an ES module, so that only ES modules sign in there.
 */
const managers = {
  npm: { add: ['npm', 'install', '--no-audit', '--no-fund'], node: ['node'] },
  pnpm: { add: ['npx', '--yes', 'pnpm', 'add'], node: ['node'] },
  'yarn 1': {
    add: ['npx', '--yes', 'yarn@1', 'add', '--no-lockfile', '--non-interactive', '--ignore-engines'],
    node: ['node']
  },
  yarn: {
    add: ['npx', '--yes', '@yarnpkg/cli-dist', 'add'],
    node: ['node'],
    settings: { '.yarnrc.yml': 'nodeLinker: node-modules\n', 'yarn.lock': '' }
  },
  'yarn, Plug\'n\'Play': {
    add: ['npx', '--yes', '@yarnpkg/cli-dist', 'add'],
    node: ['npx', '--yes', '@yarnpkg/cli-dist', 'node'],
    settings: { '.yarnrc.yml': 'nodeLinker: pnp\n', 'yarn.lock': '' },
    hosts: ['host.mjs']
  }
}

/** An empty project with the hosts that sign in. */
function project (settings = {}) {
  const folder = emptyFolder()
  cpSync('test/package/hosts', folder, { recursive: true })
  const files = { 'package.json': '{ "name": "host", "private": true }', ...settings }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** What one host printed after its sign-in, or what went wrong. */
function signIn (folder, [command, ...args], host) {
  const { ok, stdout, stderr } = run(command, [...args, host], { cwd: folder })
  if (ok && stdout === '"alice"\n') return 'ok'
  console.error(`${host}:\n${stdout}${stderr}`)
  process.exitCode = 1
  return 'fails'
}

// The registry that npm is set to is for the others as well.
const registry = mustRun('npm', ['config', 'get', 'registry']).trim()
const env = { npm_config_registry: registry, YARN_NPM_REGISTRY_SERVER: registry, YARN_ENABLE_TELEMETRY: '0' }
const tarball = pack()

console.log('| Manager | installs | ES module | CommonJS |\n|---|---|---|---|')
for (const [name, { add, node, settings, hosts = ['host.mjs', 'host.cjs'] }] of Object.entries(managers)) {
  const folder = project(settings)
  const [command, ...args] = [...add, name.startsWith('yarn') ? `fastify-partner-sso@${tarball}` : tarball, 'fastify@5']
  const { ok, stdout, stderr } = run(command, args, { cwd: folder, env })
  if (!ok) {
    console.error(`${name}:\n${stdout}${stderr}`)
    process.exitCode = 1
  }
  const signedIn = ['host.mjs', 'host.cjs']
    .map((host) => ok && hosts.includes(host) ? signIn(folder, node, host) : '–')
  console.log(`| ${name} | ${ok ? 'ok' : 'fails'} | ${signedIn.join(' | ')} |`)
}
