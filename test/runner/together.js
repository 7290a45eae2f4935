// Which test files share a process. To start one, and to load tap, Fastify and lib in it, takes two seconds of a
// processor: longer than most test files.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const FOLDER = '.tap/together'

/** Files of one process at most. */
const MOST = 8

/** Take long by themselves, or have a clock or heap of their own. */
const ALONE = new RegExp(`^test/(?:${[
  'attacks/(?:amplification|error-page|fuzz|replay|secrets|single-use)',
  '(?:browser|interleavings)/',
  'examples/(?:programs|start)',
  'faults/(?:clients|cluster|host-client|killed|load|memory|readiness|refusing|sentinel|silent)',
  'hosts/(?:close|nest)',
  'package/(?:installed|quick-start|recipes)',
  'simulator/(?:bad-input|bin|check|mistakes)',
  'unit/time-limit'
].join('|')})`)

/** Whether the test file has a process of its own. */
export const isAlone = (file) => ALONE.test(file)

/** What tap is given for these files: a file that takes long as it is, and one that imports several of the others. */
export function inProcesses (files) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const groups = groupsOf(files.filter((file) => !isAlone(file)))
  return [
    ...files.filter(isAlone),
    ...groups.map(({ name, files }) => importing(files, join(FOLDER, `${name}.mjs`)))
  ]
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
  if (files.length === 1) return files[0]
  writeFileSync(path, files.map((file) => `import '${relative(FOLDER, file)}'\n`).join(''))
  return path
}
