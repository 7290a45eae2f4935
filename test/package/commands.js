// What the commands `nodes.js`, `managers.js`, `runners.js` and `test/hosts/matrix.js` share.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isBuilt } from './built.js'

/** The versions of Node that the package is for. */
export const nodeVersions = ['20', '22', '24', '26']

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

/** Runs test files by tap, which starts them on the Node that it runs on itself. */
export function tests (version, files, options) {
  const tap = 'node_modules/tap/dist/esm/run.mjs'
  const { ok, stdout, stderr } = onNode(version, [tap, '--disable-coverage', '--reporter=tap', ...files], options)
  const [, pass = '0'] = /^# \{.*\bpass: (\d+)/m.exec(stdout) ?? []
  const [, fail = ok ? '0' : '?'] = /^# \{.*\bfail: (\d+)/m.exec(stdout) ?? []
  const failures = stdout.split('\n').filter((line) => /^\s*not ok/.test(line))
  const failedFiles = failures.flatMap((line) => /^not ok \d+ - (\S+)/.exec(line)?.[1] ?? [])
  return { ok, pass: Number(pass), fail, failures, failedFiles, stderr }
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
