// The tables of the documents are true, and what they name exists.
import { existsSync, readFileSync } from 'node:fs'
import Fastify from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { block, blocks, commands, readme, texts } from './documents.ts'

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

/** The members of an interface, sorted. */
function membersOf (source: string, name: string): string[] {
  const [, list = ''] = new RegExp(`^export interface ${name}\\b.*?\\{\\n(.*?)^\\}`, 'ms').exec(source) ?? []
  return [...list.matchAll(/^ {2}(\w+)\??: /gm)].map(([, member = '']) => member).sort()
}

t.test('the table of options has every option, its default, and no other', async (t) => {
  const options = { portla: true } as unknown as Parameters<typeof partnerSso>[1]
  await t.rejects(async () => await Fastify().register(partnerSso, options), { message: /did you mean "portal"/ })
  const source = readFileSync('lib/options/options.ts', 'utf8')
  const [, section = ''] = /^## Options\n(.*?)^## /ms.exec(readme) ?? []
  const inReadme = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  t.strictSame(inReadme.sort(), membersOf(source, 'PartnerSsoOptions'))

  const [, defaults = ''] = /^const defaults = \{\n(.*?)^\}/ms.exec(source) ?? []
  const values = [...defaults.matchAll(/^ {2}(\w+): (.+?),?$/gm)]
  t.equal(values.length, 5)
  for (const [, name, value = ''] of values) t.match(section, `| \`${name}\` | \`${value.replaceAll('_', '')}\` |`)
})

t.test('the table of a portal has every value', async (t) => {
  const inReadme = [...readme.matchAll(/^\| `portal\.(\w+)` \| (?:required|`'partner'`) /gm)].map(([, name]) => name)
  t.strictSame(inReadme.sort(), membersOf(readFileSync('lib/portal/portal.ts', 'utf8'), 'Portal'))
})

t.test('the table of events has every type', async (t) => {
  const [, section = ''] = /^## Events\n(.*)/ms.exec(readme) ?? []
  const inReadme = [...section.matchAll(/^\| (`.+`) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
  const source = readFileSync('lib/events.ts', 'utf8') + readFileSync('lib/errors.ts', 'utf8')
  for (const type of inReadme.filter((name) => name !== 'type')) t.match(source, `'${type}'`)
  const [, refusals = ''] = /^export type RefusalType =\n(.*?)\n\n/ms.exec(source) ?? []
  const refused = refusals.match(/\w+/g) ?? []
  t.ok(refused.length > 3)
  for (const type of refused) t.ok(inReadme.includes(type), type)
})

t.test('the matrix of RFCs names tests that are there', async (t) => {
  const matrix = texts.get('test/RFC.md') as string
  const named = [...matrix.matchAll(/`((?:c|a|unit|flow|stores|hosts|interleavings)\/[\w-]+)`/g)]
  t.ok(named.length > 80)
  for (const [, name = ''] of named) {
    const file = name.startsWith('c/')
      ? `test/contract/checks/${name.slice(2)}.ts`
      : `test/${name.replace(/^a\//, 'attacks/')}.test.ts`
    t.ok(existsSync(file), name)
  }
})

t.test('no line of prose or code is longer than 120 columns', async (t) => {
  for (const [document, text] of texts) {
    // A row of a table, or a log line, has no place for a break.
    const long = text.split('\n').filter((line) => line.length > 120 && !/^[|{]/.test(line))
    t.strictSame(long, [], document)
  }
})

t.test('the scripts and files that the documents name in commands are there', async (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const all = [...texts.values()].join('\n')
  const files = [...all.matchAll(/(?:node|npm\s+test\s+--)\s+(test\/[\w./-]+)/g)].map(([, path = '']) => path)
  t.ok(files.length > 5)
  for (const path of files) t.ok(existsSync(path), path)
  const used = [...all.matchAll(/\bnpm (?:run )?(?!install|ci\b|warns)(\w+)/g)].map(([, script = '']) => script)
  t.ok(used.length > 3)
  for (const script of used) t.ok(scripts[script], script)
})
