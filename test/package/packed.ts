// The package as it ships, packed once for all tests of this folder.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { isBuilt } from './built.js'

const execute = promisify(execFile)
const folders = ['lib', 'examples']
const files = [
  'package.json', 'tsconfig.json', 'LICENSE', 'README.md', '.github/RUNBOOK.md', '.github/SECURITY.md'
]

/** What is compiled for the examples is not packed, and is rewritten by other tests. */
const isSource = (path: string): boolean => !path.startsWith(join('examples', 'dist'))

export interface Packed {
  /** Where it was packed: files in this folder import the package by its name. */
  directory: string
  /** The tarball that `npm pack` made. */
  tarball: string
  size: number
  unpackedSize: number
  files: Array<{ path: string, size: number }>
}

/** Runs a command and returns what it printed. Throws an error with the output when the command fails. */
export async function run (directory: string, command: string, ...args: string[]): Promise<string> {
  // The settings of the npm that started the tests are not those of a host, and tap has every Node load its own hooks.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  try {
    const options = { cwd: directory, env, maxBuffer: 2 ** 25 }
    return (await execute('env', ['-u', 'NODE_OPTIONS', command, ...args], options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string, stderr?: string }
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** Packs the package in a temporary folder. Done once for each state of the sources; tests share the result. */
export async function packed (): Promise<Packed> {
  const directory = join(tmpdir(), `fastify-partner-sso-${await digest()}`)
  const description = join(directory, 'packed.json')
  try {
    return JSON.parse(await readFile(description, 'utf8'))
  } catch {
    const stage = await mkdtemp(join(tmpdir(), 'fastify-partner-sso-stage-'))
    await pack(stage, directory)
    // A process that packed at the same time has made the same.
    await rename(stage, directory).catch(async () => await rm(stage, { recursive: true, force: true }))
    return JSON.parse(await readFile(description, 'utf8'))
  }
}

async function pack (stage: string, directory: string): Promise<void> {
  const built = isBuilt()
  const sources = built ? ['dist', ...folders, ...files] : [...folders, ...files]
  for (const source of sources) await cp(source, join(stage, source), { recursive: true, filter: isSource })
  await symlink(resolve('node_modules'), join(stage, 'node_modules'))
  // Without a build that is up to date, npm runs one before (prepack), and it may print.
  const printed = await run(stage, 'npm', 'pack', '--json', ...(built ? ['--ignore-scripts'] : []))
  const [{ filename, size, unpackedSize, files: list }] = JSON.parse(printed.slice(printed.indexOf('[\n')))
  const description: Packed = { directory, tarball: join(directory, filename), size, unpackedSize, files: list }
  await writeFile(join(stage, 'packed.json'), JSON.stringify(description))
}

/** The files of a folder and of its folders. */
async function filesOf (folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)).sort()
}

async function digest (): Promise<string> {
  // The node_modules it was packed with are those of this work tree.
  const hash = createHash('sha256').update(process.cwd())
  const inside = (await Promise.all(folders.map(filesOf))).flat().filter(isSource)
  for (const file of [...inside, ...files]) hash.update(`${file}\n`).update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

/** An empty directory that is removed after the test. */
export async function emptyDirectory (t: { teardown (stop: () => unknown): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fastify-partner-sso-host-'))
  t.teardown(async () => await rm(directory, { recursive: true, force: true }))
  return directory
}
