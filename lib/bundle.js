// The last step of the build: bundles what the package uses of TypeBox into dist/typebox.js, with TypeBox's licence.
// Importing its own files would take as long as importing Fastify. The declarations still import `typebox`.
//
// The step before compiles the modules again, without comments: the declarations have those of the public interface.
import { build } from 'esbuild'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = 'dist/typebox.js'
const licence = fileURLToPath(new URL('../license', import.meta.resolve('typebox')))

await build({
  entryPoints: [file],
  outfile: file,
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  minify: true,
  banner: { js: `/*!\n${readFileSync(licence, 'utf8').trim()}\n*/` }
})
