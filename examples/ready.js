// Installs and builds what the examples need, and only where that is missing or out of date:
//
//   npm run ready        every example: all packages of the project
//   npm start            the demo alone: what .ci/start has, an eighth of the packages
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const SOURCES = ['lib', 'examples', 'package.json', 'tsconfig.json']
const OUTPUTS = ['dist', join('examples', 'dist')]
/** Written after each complete build. */
const STAMP = 'examples/dist/.built'
/** npm writes it into a complete installation. That of the demo has none: whatever needs all packages installs them. */
const ALL_INSTALLED = 'node_modules/.package-lock.json'
const DEMO = '.ci/start'

/** When a file, or the latest one in a folder, was changed. A folder changes when one of its files is removed. */
function changedAt (path) {
  if (OUTPUTS.includes(path)) return 0
  const status = statSync(path)
  if (!status.isDirectory()) return status.mtimeMs
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))))
}

function isBuilt () {
  if (![STAMP, 'dist/index.js', 'dist/simulator/main.js'].every((path) => existsSync(path))) return false
  // Equal where the build made examples/dist, and so changed that folder, within one tick of the file system's clock.
  return Math.max(...SOURCES.map(changedAt)) <= statSync(STAMP).mtimeMs
}

function run (words, command, ...args) {
  if (words !== '') console.log(words)
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(1)
}

const isStart = process.argv[2] === 'start'
const npmCi = ['ci', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs what the demo runs, and what builds it. `node_modules` is a link to it. */
function installDemo () {
  run('Installing what the demo needs (once, some ten seconds; needs the network) …', 'npm', ...npmCi, '--prefix', DEMO)
  rmSync(join(DEMO, ALL_INSTALLED), { force: true })
  rmSync('node_modules', { recursive: true, force: true })
  symlinkSync(join(process.cwd(), DEMO, 'node_modules'), 'node_modules', 'junction')
}

/** Compiles without the types of the packages that the demo does not install. */
function buildDemo () {
  run('Building the demo …', 'npx', 'tsc', '-p', 'lib', '--noCheck', '--declaration', 'false')
  run('', 'node', 'lib/bundle.js')
  run('', 'npx', 'tsc', '-p', 'examples', '--noCheck')
}

function buildAll () {
  run('Building the package (after each change of its source) …', 'npm', 'run', '--silent', 'build')
  run('Building the examples …', 'npx', 'tsc', '-p', 'examples')
}

const hasAll = existsSync(ALL_INSTALLED)
let mustBuild = !isBuilt()
if (!hasAll && isStart) {
  if (!existsSync('node_modules/fastify')) installDemo()
} else if (!hasAll) {
  run('Installing all packages (once, up to a minute) …', 'npm', ...npmCi)
  // The build of the demo has no declarations.
  mustBuild = true
}
if (mustBuild) {
  if (hasAll || !isStart) buildAll()
  else buildDemo()
  writeFileSync(STAMP, new Date().toISOString())
}
