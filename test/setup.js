// Before `npm test`: installs the packages and the programs that the tests need, and compiles.
import { execSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'

/** Whether it is there, as a command of the shell; Debian's package; the command for macOS. */
const PROGRAMS = [
  ['command -v redis-server', 'redis-server', 'brew install redis'],
  ['command -v redis-sentinel', 'redis-sentinel', 'brew install redis'],
  ['command -v curl', 'curl', 'brew install curl'],
  ['command -v chromium', 'chromium', 'brew install --cask chromium'],
  ['command -v postgres || ls /usr/lib/postgresql/*/bin/postgres', 'postgresql', 'brew install postgresql'],
  ['command -v promtool', 'prometheus', 'brew install prometheus'],
  ['command -v haproxy', 'haproxy', 'brew install haproxy'],
  ['/usr/bin/python3 -c "import requests_oauthlib"', 'python3-requests-oauthlib',
    '/usr/bin/pip3 install --user requests-oauthlib'],
  ['/usr/bin/ruby -e "require %q(oauth2)"', 'ruby-oauth2', 'sudo /usr/bin/gem install oauth2']
]

const run = (command) => execSync(command, { stdio: 'inherit' })
const succeeds = (command) => spawnSync(command, { shell: true }).status === 0

if (!existsSync('node_modules/.package-lock.json')) run('npm ci --no-audit --no-fund')

const missing = PROGRAMS.filter(([isThere]) => !succeeds(isThere))
const aptGet = `apt-get install -y --no-install-recommends ${missing.map(([, debian]) => debian).join(' ')}`
if (missing.length > 0 && process.getuid?.() === 0 && succeeds('command -v apt-get')) {
  // The tests start what they need: no service is started. Debian asks this program.
  const policy = '/usr/sbin/policy-rc.d'
  const isOurs = !existsSync(policy)
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  run(`apt-get update -qq && ${aptGet} -qq`)
  if (isOurs) rmSync(policy)
} else if (missing.length > 0) {
  const macos = [...new Set(missing.map(([, , command]) => command))].join('; ')
  console.error(`Programs for the tests are missing.\nDebian, Ubuntu: sudo ${aptGet}\nmacOS: ${macos}`)
  process.exit(1)
}

rmSync('compiled', { recursive: true, force: true })
// Beside each other, since each uses one core. tap is built once, with the plugins of .taprc: npm removes the mark.
const builds = [
  'npm run -s compile',
  'npm run -s build && npx tsc -p examples',
  'ls node_modules/.tap-is-built > /dev/null 2>&1 || (npx tap build && touch node_modules/.tap-is-built)'
]
const ends = builds.map((command) => once(spawn(command, { shell: true, stdio: 'inherit' }), 'close'))
for (const [code] of await Promise.all(ends)) process.exitCode ||= code ?? 1
