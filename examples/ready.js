// `npm run ready`: installs and builds what `npm start` needs, and only where that is missing or out of date.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const SOURCES = ['lib', 'examples', 'package.json', 'tsconfig.json']
const OUTPUTS = ['dist', join('examples', 'dist')]
/** Written after each complete build. */
const STAMP = 'examples/dist/.built'

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
  console.log(words)
  const { status } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(1)
}

if (!existsSync('node_modules/.package-lock.json')) {
  const flags = ['--no-audit', '--no-fund', '--loglevel=error']
  run('Installing the dependencies (once, up to a minute) …', 'npm', 'ci', ...flags)
}
if (!isBuilt()) {
  run('Building the package (after each change of its source) …', 'npm', 'run', '--silent', 'build')
  run('Building the examples …', 'npx', 'tsc', '-p', 'examples')
  writeFileSync(STAMP, new Date().toISOString())
}
