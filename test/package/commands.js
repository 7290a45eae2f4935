// The package as it ships, and commands around it: for the tests here and for `test/versions.js`.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** The settings of the npm that started this process do not hold for a host. */
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

/**
 * Runs a command to its end: what it printed, and whether it succeeded. By `env`, since a program of Node would load
 * what tap loads.
 */
export function run (command, args, { env = {}, ...options } = {}) {
  const settings = { encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...inherited, ...env }, ...options }
  const { status, stdout, stderr, error } = spawnSync('env', ['-u', 'NODE_OPTIONS', command, ...args], settings)
  return { ok: status === 0, stdout: stdout ?? '', stderr: error === undefined ? stderr : String(error) }
}

/** Runs a command that must succeed: what it printed. */
export function mustRun (command, args, options) {
  const { ok, stdout, stderr } = run(command, args, options)
  if (ok) return stdout
  throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
}

/** Runs a program on a version of Node: the binary is that of the npm package `node`. */
export function onNode (version, args, options) {
  return run('npx', ['--yes', '--prefer-offline', '-p', `node@${version}`, '--', 'node', ...args], options)
}

/** A temporary folder that is removed when this program ends. */
function emptyFolder () {
  const folder = mkdtempSync(join(tmpdir(), 'fastify-partner-sso-host-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Packs what was built: the tarball, and what npm says of it. */
export function packed () {
  const folder = emptyFolder()
  const printed = mustRun('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
  const [{ filename, ...facts }] = JSON.parse(printed.slice(printed.indexOf('[\n')))
  return { tarball: join(folder, filename), ...facts }
}

/** Builds and packs the package. Returns the path of the tarball. */
export function pack () {
  mustRun('npm', ['run', '-s', 'build'])
  return packed().tarball
}

const npm = ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

/** An empty host: a temporary folder with these files, and packages that npm or another manager adds. */
export function hostWith (files, packages, { add: [command, ...args] = npm, env } = {}) {
  const cwd = emptyFolder()
  writeFileSync(join(cwd, 'package.json'), '{ "name": "host", "private": true }')
  for (const file of files) cpSync(file, join(cwd, basename(file)), { recursive: true })
  mustRun(command, [...args, ...packages], { cwd, env })
  return cwd
}
