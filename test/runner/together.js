// Which test files share a process. To start one, and to load tap, Fastify and lib in it, takes two seconds of a
// processor: longer than most test files.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const FOLDER = '.tap/together'

/** Files of one process at most. */
const MOST = 8

/** Files that take long, the longest first: begun last, they would be waited for. */
const LONG = [
  'interleavings/interleavings', 'browser/pages', 'simulator/mistakes', 'package/installed', 'browser/hosts',
  'faults/sentinel', 'faults/killed', 'attacks/fuzz', 'faults/cluster', 'browser/sign-in', 'attacks/error-page',
  'simulator/check', 'faults/load', 'attacks/amplification', 'examples/programs', 'faults/clients',
  'browser/error-page', 'package/quick-start', 'simulator/bin', 'examples/start', 'hosts/close'
]

/** Files that have a clock or heap of their own, count what their process does, or start many others. */
const APART = [
  'attacks/replay', 'attacks/secrets', 'attacks/single-use', 'faults/causes', 'faults/host-client', 'faults/readiness',
  'faults/refusing', 'faults/silent', 'hosts/nest', 'package/recipes', 'simulator/bad-input', 'unit/time-limit'
]

const nameOf = (file) => file.replace(/^test\/|\.test\.[jt]s$/g, '')

/** Whether the test file has a process of its own. */
export const isAlone = (file) => [...LONG, ...APART].includes(nameOf(file))

/**
 * What tap is given for these files: a file for each process, which imports one of them or several. tap begins them in
 * the order of their names, those that count for coverage (coverage.js) after the others.
 */
export function inProcesses (files) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const alone = (names) => names.map((name) => files.filter((file) => nameOf(file) === name))
    .filter(({ length }) => length > 0)
    .map((files) => ({ name: nameOf(files[0]).replace('/', '-'), files }))
  const processes = [...alone(LONG), ...groupsOf(files.filter((file) => !isAlone(file))), ...alone(APART)]
  return processes.map(({ name, files }, index) =>
    importing(files, join(FOLDER, `${String(index + 1).padStart(2, '0')}-${name}.mjs`)))
}

/** Groups of files that may share a process, each named by its folder. */
export function groupsOf (files) {
  const folders = new Set(files.map(folderOf))
  return [...folders].flatMap((folder) => {
    const members = files.filter((file) => folderOf(file) === folder)
    return chunks(members).map((files, index) => ({ name: `${folder}-${index + 1}`, files }))
  })
}

const folderOf = (file) => file.split('/')[1]

/** The files in parts of about the same size. */
function chunks (files) {
  const count = Math.ceil(files.length / MOST)
  return Array.from({ length: count }, (_, part) => files.filter((_, index) => index % count === part))
}

/** Imported by one statement each, before anything runs: tap takes a pause between two files for the end. */
function importing (files, path) {
  writeFileSync(path, files.map((file) => `import '${relative(FOLDER, file)}'\n`).join(''))
  return path
}
