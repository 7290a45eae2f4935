// Compiles what the tests load before they run. Left to them, each process would load the compiler for its own files.
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { compiled } from './typescript-hooks.js'

for (const folder of ['lib', 'test', 'examples']) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => /(?<!\.d)\.ts$/.test(file))
  for (const file of files) await compiled(resolve(folder, file))
}
