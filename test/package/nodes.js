// `node test/package/nodes.js [file…]`: the tests on every Node that the package is for, and on the oldest that it
// allows. Prints a table; exit 1 when something fails. Without files: all tests but those of the package itself.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, nodeVersions, onNode, tests } from './commands.js'

// "engines" in package.json.
const OLDEST = '20.19.0'

const given = process.argv.slice(2)
const all = readdirSync('test', { recursive: true })
  .filter((file) => file.endsWith('.test.ts') && !file.startsWith('package')).map((file) => join('test', file)).sort()
const files = given.length > 0 ? given : all

/** Signs in to the package as it is built, from an ES module and from CommonJS, with no test tool between. */
function signsIn (version) {
  const hosts = ['host.mjs', 'host.cjs'].map((host) => onNode(version, [join('test/package/hosts', host)]))
  return hosts.every(({ ok, stdout }) => ok && stdout === '"alice"\n')
}

build()

console.log('| Node | sign-in, import and require() | tests passed | failed |\n|---|---|---|---|')
for (const version of [OLDEST, ...nodeVersions]) {
  const exact = onNode(version, ['--print', 'process.version']).stdout.trim()
  const signedIn = signsIn(version)
  const { ok, pass, fail, failures, stderr } = tests(version, files)
  if (!ok) console.error(`Node ${version}:\n${failures.join('\n')}\n${stderr}`)
  if (!signedIn || !ok) process.exitCode = 1
  console.log(`| ${exact} | ${signedIn ? 'ok' : 'fails'} | ${pass} | ${fail} |`)
}
