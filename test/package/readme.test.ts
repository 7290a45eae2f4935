// The tables of the documents are true, and what they name exists.
import { existsSync, readFileSync } from 'node:fs'
import Fastify from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { PORTAL } from '../helpers/host.ts'
import { injecting, wire } from '../helpers/wire.ts'
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

/** What a first look shows: two screens of it. */
const firstScreens = readme.split('\n## Quick start\n')[0] as string

t.test('the first screen shows how to register, and it works', async (t) => {
  const code = block('register')
  const lines = readme.split('\n')
  t.ok(code.split('\n').length <= 13, 'twelve lines')
  t.ok(lines.slice(0, 20).join('\n').includes(code.slice(0, 100)), 'at the top')
  const app = Fastify()
  app.addHook('onRequest', async (request) => {
    const role = request.headers['x-user']
    const user = { id: 'u-1', email: 'ada@partner.example', name: 'Ada', role }
    Object.assign(request, { session: { user: role === undefined ? undefined : user } })
  })
  type Compile = new (...text: string[]) => (...given: unknown[]) => Promise<void>
  const AsyncFunction = (async () => {}).constructor as Compile
  const { loginUrl, clientId, clientSecret, redirectUri } = PORTAL
  const names = ['app', 'partnerSso', 'loginUrl', 'clientId', 'clientSecret', 'redirectUri']
  const register = new AsyncFunction(...names, code)
  await register(app, partnerSso, loginUrl, clientId, clientSecret, redirectUri)
  const at = wire('', undefined, { fetch: injecting(app) })
  const { json } = await at.user(await at.accessToken('agent'))
  t.match(json, { external_id: 'u-1', type: 'partner', control_role: 'Partner Read Only' })
  t.equal((await at.authorize({}, 'visitor')).redirect.get('error'), 'access_denied')
  t.ok((await at.authorize({}, null)).redirect.has('return_to'))
})

t.test('README, CONTRIBUTING and .ci/run name the same two commands', async (t) => {
  t.ok(firstScreens.split('\n').length < 70)
  const rows = [...firstScreens.matchAll(/^\| `(npm \w+)` \| (.+) \| (.+) \|$/gm)]
  t.strictSame(rows.map(([, command]) => command), ['npm start', 'npm test'])
  t.match(rows[0]?.[2], /http:\/\/localhost:3000.*http:\/\/127\.0\.0\.1:3001/, 'where they are')
  t.match(firstScreens, /^Open http:\/\/127\.0\.0\.1:3001, press \*\*Sign in\*\*/m, 'where to click')
  for (const [, command = '', , time = ''] of rows) t.match(time, /minute/, command)
  const inContributing = blocks
    .filter(({ document, language }) => document === '.github/CONTRIBUTING.md' && language === 'sh')
    .flatMap(({ code }) => code.match(/^npm (?:start|test)\b/gm) ?? [])
  t.strictSame(inContributing, ['npm start', 'npm test'])
  const ci = readFileSync('.ci/run', 'utf8').split('\n').filter((line) => !/^(?:#|set |cd |$)/.test(line))
  t.strictSame(ci, ['npm test'])
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const script of ['start', 'test']) t.ok(scripts[script], script)
  const start = readFileSync('examples/start.ts', 'utf8')
  for (const port of ["'PORT', 3000", "'PORTAL_PORT', 3001"]) t.ok(start.includes(port), port)
})

t.test('each method of app.partnerSso is named', async (t) => {
  const source = readFileSync('lib/decorator.ts', 'utf8')
  const decorator = /^export interface PartnerSsoDecorator \{\n(.*?)^\}/ms.exec(source)
  const methods = [...String(decorator?.[1]).matchAll(/^ {2}(\w+) \(/gm)].map(([, name = '']) => name)
  t.ok(methods.length > 1)
  for (const name of methods) t.match(readme, `app.partnerSso.${name}(`, name)
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

  const checked = readFileSync('lib/options/checked-options.ts', 'utf8')
  const [, defaults = ''] = /^const defaults = \{\n(.*?)^\}/ms.exec(checked) ?? []
  const values = [...defaults.matchAll(/^ {2}(\w+): (.+?),?$/gm)]
  t.equal(values.length, 5)
  for (const [, name = '', value = ''] of values) {
    t.match(section, `| \`${name}\` | \`${value.replaceAll('_', '')}\` |`, name)
  }
})

t.test('the table of a portal has every value', async (t) => {
  const inReadme = [...readme.matchAll(/^\| `portal\.(\w+)` \| (?:required|`'partner'`) /gm)].map(([, name]) => name)
  t.strictSame(inReadme.sort(), membersOf(readFileSync('lib/portal/portal.ts', 'utf8'), 'Portal'))
})

t.test('the table of events has every type', async (t) => {
  const [, section = ''] = /^## Events\n(.*)/ms.exec(readme) ?? []
  const inReadme = [...section.matchAll(/^\| (`.+`) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
  const source = readFileSync('lib/events.ts', 'utf8') + readFileSync('lib/errors.ts', 'utf8')
  for (const type of inReadme.filter((name) => name !== 'type')) t.match(source, `'${type}'`, type)
  const [, refusals = ''] = /^export type RefusalType =\n(.*?)\n\n/ms.exec(source) ?? []
  const refused = refusals.match(/\w+/g) ?? []
  t.ok(refused.length > 3)
  for (const type of refused) t.ok(inReadme.includes(type), type)
})

t.test('the matrix of RFCs names tests that are there', async (t) => {
  const matrix = texts.get('test/RFC.md') as string
  const named = [...matrix.matchAll(/`((?:c|a|unit|flow|stores|hosts|interleavings)\/[\w-]+)`/g)]
  t.ok(named.length > 20)
  for (const [, name = ''] of named) {
    const file = name.startsWith('c/')
      ? `test/contract/checks/${name.slice(2)}.ts`
      : `test/${name.replace(/^a\//, 'attacks/')}.test.ts`
    t.ok(existsSync(file) || existsSync(file.replace('.test', '.alone.test')), name)
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
  const commands = all.matchAll(/(?:node|npm run only|tap)\s+((?:compiled\/)?test\/[\w./-]+)/g)
  const files = [...commands].map(([, path = '']) => path)
  t.ok(files.length > 5)
  for (const path of files) t.ok(existsSync(path), path)
  const used = [...all.matchAll(/\bnpm (?:run )?(?!install|init|pkg|ci\b|publish|version|warns)(\w+)/g)]
    .map(([, script = '']) => script)
  t.ok(used.length > 3)
  for (const script of used) t.ok(scripts[script], script)
})
