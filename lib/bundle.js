// The last step of the build. It removes the comments of the modules: the declarations have those of the public
// interface. And it bundles what the package uses of TypeBox into dist/typebox.js, with TypeBox's licence: importing
// its own files would take as long as importing Fastify. The declarations still import `typebox`.
import { build } from 'esbuild'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const modules = readdirSync('dist', { recursive: true }).filter((file) => file.endsWith('.js'))
const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, removeComments: true }
for (const file of modules.map((name) => `dist/${name}`)) {
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions })
  writeFileSync(file, outputText)
}

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
