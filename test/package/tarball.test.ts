// What is in the package, and that resolvers and compilers of all kinds find their way in it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { packed } from './commands.js'
import { readme, texts } from './documents.ts'

const { files, size, unpackedSize } = packed()

const modules = readdirSync('lib', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts')).map((file) => file.replace(/\.ts$/, ''))

/** The program alone imports its modules: nobody needs their types. */
const outputs = modules.flatMap((module) =>
  module.startsWith('simulator/') ? [`dist/${module}.js`] : [`dist/${module}.js`, `dist/${module}.d.ts`])

/** To be copied from an installed package and compiled; what needs the repository to run stays there. */
const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(?!dist\/|start\.ts).*\.(?:ts|yml|json|eta)$/.test(file)).map((file) => `examples/${file}`)
const pages = [
  'README.md', '.github/CHANGELOG.md', '.github/RUNBOOK.md', '.github/SECURITY.md', 'lib/routes/README.md',
  'lib/stores/README.md', 'lib/testing/README.md', 'examples/README.md', 'examples/logins/README.md'
]

t.test('what users need, and nothing else', async (t) => {
  const expected = ['LICENSE', 'package.json', ...pages, ...outputs, ...examples]
  t.strictSame(files.map(({ path }) => path).sort(), expected.sort())
  const [packedSize, installedSize] = [size, unpackedSize].map((bytes) => `${Math.round(bytes / 1000)} kB`)
  t.comment(`${files.length} files, ${packedSize} packed, ${installedSize} unpacked`)
  t.ok(size < 210_000, 'it stays small')
})

t.test('an example that needs the repository to run says so', async (t) => {
  for (const example of examples) {
    const [header = ''] = /^(?:\/\/.*\n)*/.exec(readFileSync(example, 'utf8')) ?? []
    if (/\b(?:npm|node) /.test(header)) t.match(header, /From a clone|in a clone/, example)
  }
})

t.test('each dependency is explained in lib/README.md, and no other', async (t) => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, document = ''] = /^## Dependencies\n(.*)/ms.exec(readFileSync('lib/README.md', 'utf8')) ?? []
  const explained = [...document.matchAll(/^\| `(.+?)` \| .+ \|$/gm)].map(([, name]) => name)
  t.strictSame(explained.sort(), Object.keys(dependencies).sort())
})

t.test('what is imported at run time is what is declared', async (t) => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  // The declarations import what the build has bundled.
  const inDist = files.map(({ path }) => path).filter((path) => path.startsWith('dist/'))
  const code = inDist.map((path) => readFileSync(path, 'utf8')).join('\n')
  const statics = [...code.matchAll(/^(?:import|export) (?:.* from )?['"]((?!\.|node:).+)['"];$/gm)]
  const dynamics = [...code.matchAll(/import\(['"]((?!\.|node:).+)['"]\)/g)]
  const imported = new Set([...statics, ...dynamics].map(([, name]) => packageOf(name)))
  t.strictSame([...imported].sort(), Object.keys({ ...dependencies, ...peerDependencies }).sort())
})

/** The package of a module: `typebox` of `typebox/type`. */
function packageOf (module = ''): string {
  return module.split('/', module.startsWith('@') ? 2 : 1).join('/')
}

const REPOSITORY = 'https://github.com/fastify-partner-sso/fastify-partner-sso/blob/main/'

t.test('links lead somewhere, from an installed copy too', async (t) => {
  const shipped = files.map(({ path }) => path)
  for (const [document, text] of texts) {
    for (const [, inline, reference] of text.matchAll(/\]\(([^)]+)\)|^\[[^\]]+\]: (\S+)$/gm)) {
      const link = inline ?? reference ?? ''
      const [path = '', anchor] = link.split('#')
      const isAbsolute = link.startsWith('https://')
      if (isAbsolute && !link.startsWith(REPOSITORY)) continue
      const file = fileOf(path, document)
      t.ok(existsSync(file), link)
      if (shipped.includes(document) && !isAbsolute) t.ok(shipped.includes(file), `${link} is in the package`)
      if (anchor !== undefined) t.ok(anchors(readFileSync(file, 'utf8')).includes(anchor), link)
    }
  }
  for (const [, image = ''] of readme.matchAll(/(?:src|srcset)="(.+?)"/g)) t.ok(existsSync(image), image)
})

function fileOf (path: string, document: string): string {
  if (path.startsWith(REPOSITORY)) return path.slice(REPOSITORY.length)
  return path === '' ? document : normalize(join(dirname(document), path))
}

/** The anchors that GitHub gives to headings. */
function anchors (text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)]
    .map(([, heading = '']) => heading.toLowerCase().replace(/[^\w -]/g, '').replaceAll(' ', '-'))
}
