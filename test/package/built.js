// Whether dist is up to date, so that tests and commands need not build it again.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const changedAt = (path) => statSync(path).mtimeMs

const inside = (folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path))

/** Whether every file of dist is newer than all sources. A file that is removed changes its folder. */
export function isBuilt () {
  const sources = ['lib', ...inside('lib'), 'package.json', 'tsconfig.json'].map(changedAt)
  try {
    const outputs = [...inside('dist'), 'dist/index.js'].filter((path) => statSync(path).isFile()).map(changedAt)
    return Math.max(...sources) < Math.min(...outputs)
  } catch {
    return false
  }
}
