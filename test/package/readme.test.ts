// The tables of the documents are true, and what they name exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import Fastify from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { personOf, PORTAL } from '../app.ts'
import { inProcess } from '../wire.ts'
import { block, blocks, commands, EXCERPTS, readme, texts } from './documents.ts'

t.test('every code block names its language', async (t) => {
  const fences = [...texts.values()].flatMap((text) => text.match(/^ *(?:```|~~~)/gm) ?? [])
  t.equal(fences.length, blocks.length * 2, 'no block is overlooked')
})

t.test('the install command has what the quick start imports', async (t) => {
  const [command = ''] = commands(/^npm install fastify /)
  const installed = command.split(' ').slice(2)
  const imported = [...block('quick start').matchAll(/^import .* from '(.+)'$/gm)].map(([, name]) => name)
  t.strictSame(installed.sort(), imported.sort(), 'no package is found by luck: pnpm has no hoisting')
})

t.test('what the first screen shows registers the plugin', async (t) => {
  const app = Fastify()
  app.addHook('onRequest', async (request) => {
    const person = personOf(request)
    const role = person === 'ada' ? 'agent' : 'visitor'
    const user = person === null ? undefined : { id: 'u-1', email: 'ada@partner.example', name: 'Ada', role }
    Object.assign(request, { session: { user } })
  })
  const names = ['app', 'partnerSso', 'loginUrl', 'clientId', 'clientSecret', 'redirectUri']
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  const register = AsyncFunction(...names, block('register'))
  const { loginUrl, clientId, clientSecret, redirectUri } = PORTAL
  await register(app, partnerSso, loginUrl, clientId, clientSecret, redirectUri)
  const at = inProcess(app)
  t.match((await at.user(await at.accessToken('ada'))).json, { external_id: 'u-1', type: 'partner' })
  t.equal((await at.authorize({}, 'eve')).redirect.get('error'), 'access_denied')
  t.ok((await at.authorize({}, null)).redirect.has('return_to'))
})

t.test('the page on logins shows lines of the examples that it links', async (t) => {
  const links = /\]\(([\w-]+\.ts)\)/g
  const page = texts.get(EXCERPTS) as string
  for (const [index, section] of page.split(/^## /m).entries()) {
    // The beginning shows lines of several. What no example has links none.
    const names = [...(index === 0 ? page : section).matchAll(links)].map(([, name]) => name)
    if (names.length === 0) continue
    const sources = names.map((name) => readFileSync(`examples/logins/${name}`, 'utf8')).join('')
    for (const [, code = ''] of section.matchAll(/^```ts\n(.*?)^```/gms)) t.ok(sources.includes(code), code)
  }
})

/** The groups that a pattern finds, sorted. */
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name).sort()

t.test('each option, value of a portal and method has its place in the README, and no other has', async (t) => {
  const [, options = ''] = /^## Options\n(.*?)^## /ms.exec(readme) ?? []
  const rows = [
    ['lib/options/options.ts', 'PartnerSsoOptions', options, /^\| `(\w+)` \|/gm],
    ['lib/portal/portal.ts', 'Portal', readme, /^\| `portal\.(\w+)` \| (?:required|`'partner'`) /gm],
    ['lib/decorator.ts', 'PartnerSsoDecorator', readme, /app\.partnerSso\.(\w+)\(/g]
  ] as const
  for (const [file, name, text, pattern] of rows) {
    const declared = new RegExp(`^export interface ${name}\\b.*?\\{\\n(.*?)^\\}`, 'ms')
    const [, members = ''] = declared.exec(readFileSync(file, 'utf8')) ?? []
    t.strictSame([...new Set(found(text, pattern))], found(members, /^ {2}(\w+)(?:\??: | \()/gm), name)
  }
  const [, defaults = ''] = /^const defaults = \{\n(.*?)^\}/ms
    .exec(readFileSync('lib/options/checked-options.ts', 'utf8')) ?? []
  const values = [...defaults.matchAll(/^ {2}(\w+): (.+?),?$/gm)]
  t.not(values.length, 0)
  for (const [, name = '', value = ''] of values) {
    t.match(options, `| \`${name}\` | \`${value.replaceAll('_', '')}\` |`, name)
  }
})

t.test('the table of events has the type of every refusal, and no type that does not exist', async (t) => {
  const [, section = ''] = /^## Events\n(.*)/ms.exec(readme) ?? []
  const named = found(section, /^\| (`.+`) \|/gm).flatMap((names) => names.match(/\w+/g) ?? [])
  const source = readFileSync('lib/events.ts', 'utf8') + readFileSync('lib/errors.ts', 'utf8')
  for (const type of named.filter((name) => name !== 'type')) t.match(source, `'${type}'`, type)
  const [, refusals = ''] = /^export type RefusalType =\n(.*?)\n\n/ms.exec(source) ?? []
  t.not(refusals, '')
  t.strictSame(refusals.match(/\w+/g)?.filter((type) => !named.includes(type)), [])
})

t.test('the page on the structure has each file and folder of lib, and no other', async (t) => {
  const [, table = ''] = /^\| File or folder (.*?)\n\n/ms.exec(texts.get('lib/README.md') as string) ?? []
  const named = found(table, /^\| (`.+?`) \|/gm).flatMap((names) => names.match(/[^`, ]+/g) ?? [])
  const entries = readdirSync('lib', { withFileTypes: true }).filter(({ name }) => name !== 'README.md')
  t.strictSame(named.sort(), entries.map((entry) => entry.isDirectory() ? `${entry.name}/` : entry.name).sort())
})

t.test('the matrix of RFCs names tests that are there', async (t) => {
  const matrix = texts.get('test/RFC.md') as string
  const named = found(matrix, /`((?:c|a|unit|flow|stores|hosts|interleavings)\/[\w-]+)`/g)
  t.not(named.length, 0)
  for (const name of named) {
    const file = name.startsWith('c/')
      ? `test/contract/checks/${name.slice(2)}.ts`
      : `test/${name.replace(/^a\//, 'attacks/')}.test.ts`
    t.ok(existsSync(file) || existsSync(file.replace('.test', '.alone.test')), name)
  }
})

t.test('the scripts and files that the documents name in commands are there', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const all = [...texts.values()].join('\n')
  const files = found(all, /(?:node|npm run only|tap)\s+((?:compiled\/)?test\/[\w./-]+)/g)
  t.not(files.length, 0)
  t.strictSame(files.filter((path) => !existsSync(path)), [])
  const used = found(all, /\bnpm (?:run )?(?!install|init|pkg|ci\b|publish|version|warns)(\w+)/g)
  t.not(used.length, 0)
  t.strictSame(used.filter((script) => !scripts[script]), [])
})
