// Before `npm test`: installs the packages and the programs that the tests need, and compiles.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Whether it is there, as a command of the shell; Debian's package; the command for macOS. */
const PROGRAMS = [
  ['command -v redis-server', 'redis-server', 'brew install redis'],
  ['command -v redis-sentinel', 'redis-sentinel', 'brew install redis'],
  ['command -v curl', 'curl', 'brew install curl'],
  ['command -v chromium', 'chromium', 'brew install --cask chromium'],
  ['command -v postgres || ls /usr/lib/postgresql/*/bin/postgres', 'postgresql', 'brew install postgresql'],
  ['command -v promtool', 'prometheus', 'brew install prometheus'],
  ['/usr/bin/python3 -c "import requests_oauthlib"', 'python3-requests-oauthlib',
    '/usr/bin/pip3 install --user requests-oauthlib'],
  ['/usr/bin/ruby -e "require %q(oauth2)"', 'ruby-oauth2', 'sudo /usr/bin/gem install oauth2']
]

/** No service is to be started: the tests start what they need. */
const POLICY = '#!/bin/sh\n# While test/setup.js installs programs.\nexit 101\n'

const say = (text) => console.log(`test/setup.js: ${text}`)

/** Runs a command of the shell; where it fails, nothing else is done. */
function run (command) {
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' })
  if (status === 0) return
  say(`this has failed: ${command}`)
  process.exit(1)
}

const succeeds = (command) => spawnSync(command, { shell: true }).status === 0

say('types, style and all tests take some three minutes on two cores. One file: npm run only test/unit/pkce.test.ts')

if (!existsSync('node_modules/.package-lock.json')) {
  say('installs the packages of package-lock.json into node_modules, in half a minute')
  run('npm ci --no-audit --no-fund')
}

const missing = PROGRAMS.filter(([isThere]) => !succeeds(isThere))
const aptGet = `apt-get install -y --no-install-recommends ${missing.map(([, debian]) => debian).join(' ')}`
if (missing.length > 0 && process.getuid?.() === 0 && succeeds('command -v apt-get')) {
  say(`installs programs that stay on this machine, in a minute or two: ${aptGet}`)
  // Debian starts the services that it installs, unless this program says no. The shell removes it, however it ends.
  const policy = '/usr/sbin/policy-rc.d'
  const isOurs = !existsSync(policy) || readFileSync(policy, 'utf8') === POLICY
  if (isOurs) writeFileSync(policy, POLICY, { mode: 0o755 })
  run(`${isOurs ? `trap 'rm -f ${policy}' EXIT; trap 'exit 1' HUP INT TERM; ` : ''}apt-get update -qq && ${aptGet} -qq`)
} else if (missing.length > 0) {
  const macos = [...new Set(missing.map(([, , command]) => command))].join('; ')
  console.error(`Programs for the tests are missing.\nDebian, Ubuntu: sudo ${aptGet}\nmacOS: ${macos}`)
  process.exit(1)
}

say('builds the package and compiles the tests')
rmSync('compiled', { recursive: true, force: true })
// Beside each other, since each uses one core. tap is built once, with the plugins of .taprc: npm removes the mark.
const builds = [
  'npm run -s compile',
  'npm run -s build && npx tsc -p examples',
  'ls node_modules/.tap-is-built > /dev/null 2>&1 || (npx tap build && touch node_modules/.tap-is-built)'
]
const ends = builds.map((command) => once(spawn(command, { shell: true, stdio: 'inherit' }), 'close'))
for (const [code] of await Promise.all(ends)) process.exitCode ||= code ?? 1
