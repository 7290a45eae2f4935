import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const sources = ['lib', 'package.json', 'tsconfig.json', 'LICENSE', 'README.md']

/** The package as it ships. */
export interface Packed {
  /** Where it was packed: what stands here imports the package by its name. */
  directory: string
  /** The tarball that `npm pack` made. */
  tarball: string
  size: number
  unpackedSize: number
  files: Array<{ path: string, size: number }>
}

/** Runs a command; what it printed, or an error that holds it. */
export async function run (directory: string, command: string, ...args: string[]): Promise<string> {
  // The settings of the npm that started the tests are not those of a host, and tap has every Node load its own hooks.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  try {
    return (await execute('env', ['-u', 'NODE_OPTIONS', command, ...args], { cwd: directory, env, maxBuffer: 2 ** 25 })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string, stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/**
 * Packs the package away from the work tree, where others may be building. Done once for each state of the sources, so
 * that tests share the result.
 */
export async function packed (): Promise<Packed> {
  const directory = join(tmpdir(), `fastify-partner-sso-${await digest()}`)
  const description = join(directory, 'packed.json')
  try {
    return JSON.parse(await readFile(description, 'utf8'))
  } catch {
    const stage = await mkdtemp(join(tmpdir(), 'fastify-partner-sso-stage-'))
    await pack(stage, directory)
    // Whoever comes second has made the same.
    await rename(stage, directory).catch(async () => await rm(stage, { recursive: true, force: true }))
    return JSON.parse(await readFile(description, 'utf8'))
  }
}

async function pack (stage: string, directory: string): Promise<void> {
  for (const source of sources) await cp(source, join(stage, source), { recursive: true })
  await symlink(resolve('node_modules'), join(stage, 'node_modules'))
  // Its own build runs before (prepack) and may print.
  const printed = await run(stage, 'npm', 'pack', '--json')
  const [{ filename, size, unpackedSize, files }] = JSON.parse(printed.slice(printed.indexOf('[\n')))
  await writeFile(join(stage, 'packed.json'), JSON.stringify({ directory, tarball: join(directory, filename), size, unpackedSize, files }))
}

async function digest (): Promise<string> {
  // The node_modules it was packed with are those of this work tree.
  const hash = createHash('sha256').update(process.cwd())
  const [library = '', ...rest] = sources
  const files = (await readdir(library, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  for (const file of [...files.sort(), ...rest]) hash.update(`${file}\n`).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

/** An empty directory that is gone after the test. */
export async function emptyDirectory (t: { teardown (stop: () => unknown): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-partner-sso-host-'))
  t.teardown(async () => await rm(directory, { recursive: true, force: true }))
  return directory
}
