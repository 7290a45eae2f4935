// Compiles what the tests load before they run. Left to them, each process would load the compiler for its own files.
import { build } from 'esbuild'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { compiled, typeboxFolder } from './typescript-hooks.js'

for (const folder of ['lib', 'test', 'examples']) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => /(?<!\.d)\.ts$/.test(file))
  for (const file of files) await compiled(resolve(folder, file))
}
await build({
  entryPoints: { type: 'typebox/type', schema: 'typebox/schema' },
  outdir: typeboxFolder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node'
})
