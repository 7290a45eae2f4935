// What `runners.js` and `test/versions.js` share.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isBuilt } from './built.js'

/** Settings of the npm that started us, and of tap, are none of a host's. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name !== 'NODE_OPTIONS' && !/^npm_/i.test(name))
)

/** Runs a command to its end: what it printed, and whether it succeeded. */
export function run (command, args, { env = {}, ...options } = {}) {
  const settings = { encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...inherited, ...env }, ...options }
  const { status, stdout, stderr, error } = spawnSync(command, args, settings)
  return { ok: status === 0, stdout: stdout ?? '', stderr: error === undefined ? stderr : String(error) }
}

/** Like `run`, and stops this program when the command fails. */
export function mustRun (command, args, options) {
  const { ok, stdout, stderr } = run(command, args, options)
  if (ok) return stdout
  console.error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  process.exit(1)
}

/** Runs a program on a version of Node: the binary is that of the npm package `node`. */
export function onNode (version, args, options) {
  return run('npx', ['--yes', '--prefer-offline', '-p', `node@${version}`, '--', 'node', ...args], options)
}

/** A temporary folder that is removed when this program ends. */
export function emptyFolder () {
  const folder = mkdtempSync(join(tmpdir(), 'fastify-partner-sso-host-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Builds the package, unless dist is up to date. */
export function build () {
  if (!isBuilt()) mustRun('npm', ['run', '-s', 'build'])
}

/** Packs the package. Returns the path of the tarball. */
export function pack () {
  build()
  const folder = emptyFolder()
  const printed = mustRun('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder])
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf('[\n')))
  return join(folder, filename)
}

const npmInstall = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

/** An empty host: a temporary folder with these files and packages. Returns the folder. */
export function hostWith (files, packages) {
  const folder = emptyFolder()
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  for (const file of files) cpSync(resolve(file), join(folder, file.split('/').at(-1)), { recursive: true })
  mustRun('npm', [...npmInstall, ...packages], { cwd: folder })
  return folder
}
