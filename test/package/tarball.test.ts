// What is in the package: files, dependencies, links.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { packed } from './commands.js'
import { readme, texts } from './documents.ts'

const { files, size } = packed()

/** Pages that users read, what was built, and examples to copy. A page or an example that is missing breaks a link. */
const SHIPPED = [
  /^(?:LICENSE|package\.json)$/,
  /^(?:\.github\/|lib\/\w+\/|examples\/(?:logins\/)?)?[A-Z]+\.md$/,
  /^dist\/(?!simulator\/.*\.d\.ts$).+\.(?:js|d\.ts)$/,
  /^lib\/routes\/openapi\.json$/,
  /^examples\/(?!dist\/|start\.ts$).+\.(?:ts|yml|json|eta)$/
]

t.test('what users need, and nothing else', async (t) => {
  const others = files.filter(({ path }) => !SHIPPED.some((pattern) => pattern.test(path)))
  t.strictSame(others, [])
  // Half above today's size: for what enters unseen, such as another dependency in the bundle.
  t.ok(size < 300_000, 'it stays small')
})

t.test('the dependencies are what is imported at run time, each explained in lib/README.md', async (t) => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  // The declarations import what the build has bundled.
  const code = files
    .filter(({ path }) => path.startsWith('dist/'))
    .map(({ path }) => readFileSync(path, 'utf8'))
    .join('\n')
  const names = [
    /^(?:import|export) (?:.* from )?['"]((?!\.|node:).+)['"];$/gm,
    /import\(['"]((?!\.|node:).+)['"]\)/g
  ].flatMap((pattern) => [...code.matchAll(pattern)].map(([, module]) => packageOf(module)))
  const imported = new Set(names)
  t.strictSame([...imported].sort(), Object.keys({ ...dependencies, ...peerDependencies }).sort())
  const [, page = ''] = /^## Dependencies\n(.*)/ms.exec(texts.get('lib/README.md') ?? '') ?? []
  const explained = [...page.matchAll(/^\| `(.+?)` \| .+ \|$/gm)].map(([, name]) => name)
  t.strictSame(explained.sort(), Object.keys(dependencies).sort())
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
})

const IMAGES = 'https://raw.githubusercontent.com/fastify-partner-sso/fastify-partner-sso/main/'

t.test('each image of the README is there, at an address that an installed copy can show', async (t) => {
  const images = [...readme.matchAll(/(?:src|srcset)="(.+?)"/g)].map(([, address = '']) => address)
  t.not(images.length, 0)
  for (const address of images) {
    t.ok(address.startsWith(IMAGES), `${address} is absolute: the package has no images`)
    t.ok(existsSync(address.slice(IMAGES.length)), address)
  }
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
