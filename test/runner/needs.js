// What test files need beside lib: programs, the built package, the compiled examples. Each file of `test` that starts
// a program says `// Needs: <name of the table>`; what the chosen files load, directly or not, is looked through.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * The Debian package of each name, Homebrew's or the command for macOS, and a command that succeeds where it is
 * installed. Without a command the name is that of a program.
 */
const table = {
  'redis-server': { debian: 'redis-server', brew: 'redis' },
  'redis-sentinel': { debian: 'redis-sentinel', brew: 'redis' },
  curl: { debian: 'curl', brew: 'curl' },
  chromium: { debian: 'chromium', brew: '--cask chromium' },
  postgres: { debian: 'postgresql', brew: 'postgresql' },
  promtool: { debian: 'prometheus', brew: 'prometheus' },
  prometheus: { debian: 'prometheus', brew: 'prometheus' },
  haproxy: { debian: 'haproxy', brew: 'haproxy' },
  'python3-requests-oauthlib': {
    debian: 'python3-requests-oauthlib',
    macos: '/usr/bin/pip3 install --user requests-oauthlib',
    command: ['/usr/bin/python3', '-c', 'import requests_oauthlib']
  },
  'ruby-oauth2': {
    debian: 'ruby-oauth2',
    macos: 'sudo /usr/bin/gem install oauth2',
    command: ['/usr/bin/ruby', '-e', 'require "oauth2"']
  }
}

/** Debian keeps the programs of PostgreSQL off PATH, in a folder for each version. */
const POSTGRESQL = '/usr/lib/postgresql'

/** Whether the program is on PATH or where Debian keeps it. */
function isProgram (name) {
  const versions = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL) : []
  const folders = [...process.env.PATH.split(':'), ...versions.map((version) => join(POSTGRESQL, version, 'bin'))]
  return folders.some((folder) => existsSync(join(folder, name)))
}

function isThere (name) {
  const { command } = table[name]
  return command === undefined ? isProgram(name) : spawnSync(command[0], command.slice(1)).status === 0
}

const isFile = (path) => existsSync(path) && statSync(path).isFile()

/** The files of `test` and `examples` that the text of a file names, to import, mock, fork or copy them. */
function namedFiles (path, text) {
  const names = [...text.matchAll(/(['"`])([\w./-]+\.[cm]?[jt]s)\1/g)].map(([, , name]) => name)
  return names.flatMap((name) => [normalize(join(dirname(path), name)), normalize(name)])
    .filter((file) => /^(?:test|examples)\//.test(file) && isFile(file))
}

/** What is left of a file when it runs: no types, and no comments but what it needs. */
const running = (text) => text.replaceAll(/^import type [^']*'[^']*'$/gm, '')
  .replaceAll(/^ *(?:\/\/(?! Needs:)|\*).*$/gm, '')

/** By path the text of all that the files load, directly or not. */
function loadedBy (files) {
  const texts = new Map()
  const queue = [...files]
  for (let path; (path = queue.shift()) !== undefined;) {
    if (texts.has(path)) continue
    const text = running(readFileSync(path, 'utf8'))
    texts.set(path, text)
    queue.push(...namedFiles(path, text))
  }
  return texts
}

/** The names that follow `// Needs:`. */
function namesIn (path, text) {
  const names = [...text.matchAll(/^\/\/ Needs: (.*)$/gm)].flatMap(([, list]) => list.split(', '))
  const unknown = names.filter((name) => !(name in table) && name !== 'dist')
  if (unknown.length > 0) throw new Error(`${path} needs ${unknown.join(', ')}: test/runner/needs.js has no such name`)
  return names.filter((name) => name !== 'dist')
}

const READS_DIST = /\bdist\b|(?:from |import |resolve\()'fastify-partner-sso/

/**
 * What the test files need. A file that says `dist`, or imports the package by its name, reads what the build leaves.
 */
export function needsOf (files) {
  const loaded = loadedBy(files)
  const texts = [...loaded.values()]
  const examples = texts.some((text) => text.includes('examples/dist'))
  return {
    programs: [...new Set([...loaded].flatMap(([path, text]) => namesIn(path, text)))].sort(),
    examples,
    dist: examples || texts.some((text) => READS_DIST.test(text))
  }
}

/** On bare Debian (root, apt-get) installs what is missing; elsewhere throws an Error that says what to do. */
export function provide (names) {
  const missing = names.filter((name) => !isThere(name))
  if (missing.length === 0) return
  const debian = missing.map((name) => table[name].debian)
  if (process.getuid?.() !== 0 || !isProgram('apt-get')) {
    const macos = new Set(missing.map((name) => table[name].macos ?? `brew install ${table[name].brew}`))
    throw new Error(`The tests need ${missing.join(', ')}. Nothing was installed.\n` +
      `Debian, Ubuntu: sudo apt-get install ${debian.join(' ')}\nmacOS: ${[...macos].join('; ')}`)
  }
  console.log(`The tests need ${missing.join(', ')}: installing ${debian.join(' ')} with apt-get.`)
  install(debian)
  const still = missing.filter((name) => !isThere(name))
  if (still.length > 0) throw new Error(`apt-get did not install ${still.join(', ')}.`)
}

function install (packages) {
  // No service is started: the tests start what they need. Debian asks this program.
  const policy = '/usr/sbin/policy-rc.d'
  const isOurs = !existsSync(policy)
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  const aptGet = (...args) => spawnSync('apt-get', args, { stdio: ['ignore', 'inherit', 'inherit'] })
  aptGet('update', '-qq')
  aptGet('install', '-y', '-qq', '--no-install-recommends', ...packages)
  if (isOurs) rmSync(policy)
}
