// Every module of lib loads by itself. tap does not miss the coverage of a file that no test loads.
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

const LIB = resolve('compiled/lib')
const PROGRAM = join('simulator', 'main.js')

t.test('every module of lib loads', async (t) => {
  const files = readdirSync(LIB, { encoding: 'utf8', recursive: true })
  for (const file of files.filter((file) => file.endsWith('.js') && file !== PROGRAM)) {
    await t.resolves(import(pathToFileURL(join(LIB, file)).href), file)
  }
})
