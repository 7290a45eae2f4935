// `node test/package/nodes.js [file…]`: the tests on every Node that the package is for, with the binaries of the npm
// package `node`. Prints a table; exit 1 when something fails. Without files: all tests but those of the package itself.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const versions = ['20', '22', '24', '26']
const given = process.argv.slice(2)
const all = readdirSync('test', { recursive: true }).filter((file) => file.endsWith('.test.ts') && !file.startsWith('package')).map((file) => join('test', file)).sort()
const files = given.length > 0 ? given : all

/** Runs a program on one version of Node; what it printed, and whether it went well. */
function on (version, ...args) {
  const { status, stdout, stderr } = spawnSync('npx', ['--yes', '--prefer-offline', '-p', `node@${version}`, '--', 'node', ...args], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  return { ok: status === 0, stdout, stderr }
}

/** The package as it is built, from an ES module and from CommonJS, without any test tool between. */
function signIns (version) {
  return ['host.mjs', 'host.cjs'].map((host) => on(version, join('test/package/hosts', host))).every(({ ok, stdout }) => ok && stdout === '"alice"\n')
}

/** The tests by tap, which starts each of them on the Node that it runs on itself. */
function tests (version) {
  const { ok, stdout, stderr } = on(version, 'node_modules/tap/dist/esm/run.mjs', '--disable-coverage', '--reporter=tap', ...files)
  const [, pass = '0'] = /^# \{.*\bpass: (\d+)/m.exec(stdout) ?? []
  const [, fail = ok ? '0' : '?'] = /^# \{.*\bfail: (\d+)/m.exec(stdout) ?? []
  if (!ok) console.error(`Node ${version}:\n${stdout.split('\n').filter((line) => /^\s*not ok/.test(line)).join('\n')}\n${stderr}`)
  return { ok, pass, fail }
}

const build = spawnSync('npm', ['run', '-s', 'build'], { stdio: 'inherit' })
if (build.status !== 0) process.exit(1)

console.log('| Node | sign-in, import and require() | tests passed | failed |\n|---|---|---|---|')
let failed = false
for (const version of versions) {
  const exact = on(version, '--print', 'process.version').stdout.trim()
  const signedIn = signIns(version)
  const { ok, pass, fail } = tests(version)
  failed ||= !signedIn || !ok
  console.log(`| ${exact} | ${signedIn ? 'ok' : 'fails'} | ${pass} | ${fail} |`)
}
process.exit(failed ? 1 : 0)
