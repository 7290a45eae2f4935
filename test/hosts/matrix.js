// `node test/hosts/matrix.js [--quick] [fastify] [nest] [redis]`: the tests of hosts on every Fastify and Node that the
// package is for, on NestJS 11 and 12, and with every Redis client; all three parts unless some are named. Prints a
// table for each; exit 1 when something fails. A prerelease of the next Fastify is tried as well: what fails on it is
// reported and changes nothing. `--quick` tries one Node for each Fastify and Nest, with the tests of what differs
// between the versions of Fastify.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, hostWith, mustRun, nodeVersions, pack, tests } from '../package/commands.js'

const quick = process.argv.includes('--quick')

const testsIn = (folder) =>
  readdirSync(folder).filter((file) => file.endsWith('.test.ts')).map((file) => `${folder}/${file}`)

/** What Fastify itself decides, and versions of it do in different ways. */
const differs = [
  'flow/host-answers', 'flow/sign-in', 'hosts/bodies-and-queries', 'hosts/compress-and-etag', 'hosts/cors',
  'hosts/envelopes', 'hosts/handler-timeout', 'hosts/prefix', 'hosts/router', 'hosts/schemas'
].map((name) => `test/${name}.test.ts`)

const isChosen = (file) => !quick || differs.includes(file)

/** What is tried with each Fastify. Nest brings its own; the tests named `versions` choose three by themselves. */
const groups = {
  'sign-in flow': testsIn('test/flow').filter((file) => !file.includes('versions')).filter(isChosen),
  'plugins and settings': testsIn('test/hosts')
    .filter((file) => !/(?:express|nest|versions|start|close)\.test/.test(file)).filter(isChosen),
  'start and close': ['test/hosts/start.test.ts', 'test/hosts/close.test.ts'],
  Express: ['test/hosts/express.test.ts']
}

/** Tests of what an old Fastify does not have. */
const absent = {
  '5.0.0': { 'test/hosts/handler-timeout.test.ts': 'handlerTimeout' }
}

/**
 * Each Fastify on the oldest Node and on the newest; each Node with the newest Fastify, and in turn with another one.
 * The rest of the product would repeat these: the plugin asks neither for its version.
 */
const pairs = [
  ['20', '5.0.0'], ['20', '5.11.3'], ['20', 'newest'],
  ['22', '5.0.0'], ['22', 'newest'],
  ['24', '5.11.3'], ['24', 'newest'], ['24', 'next'],
  ['26', '5.0.0'], ['26', '5.11.3'], ['26', 'newest'], ['26', 'next']
]
const quickPairs = [['20', '5.0.0'], ['20', '5.11.3'], ['24', 'newest'], ['26', 'next']]
const redisNodes = quick ? ['24'] : nodeVersions
const nestPairs = quick ? [['24', '11'], ['26', '12']] : nodeVersions.flatMap((node) => [[node, '11'], [node, '12']])

/** The newest prerelease of the next Fastify, or its newest release once there is one. */
function nextFastify () {
  const versions = JSON.parse(mustRun('npm', ['view', 'fastify', 'versions', '--json']))
  return versions.filter((version) => Number.parseInt(version) > 5).at(-1)
}

/** The modules of each Fastify; the newest 5 and the next one are installed in a temporary folder. */
function fastifyModules () {
  const next = nextFastify()
  const folder = hostWith([], ['newest@npm:fastify@5', ...(next === undefined ? [] : [`next@npm:fastify@${next}`])])
  const installed = (name) => pathToFileURL(join(folder, 'node_modules', name, 'fastify.js')).href
  return {
    '5.0.0': 'fastify-5.0',
    '5.11.3': 'fastify-5.11',
    newest: installed('newest'),
    ...(next === undefined ? {} : { next: installed('next') })
  }
}

/** The version that a Fastify module has. */
function versionOf (module) {
  const program = `const { default: Fastify } = await import('${module}'); console.log(Fastify().version)`
  return mustRun(process.execPath, ['--input-type=module', '--eval', program]).trim()
}

/** The cells of one row: for each group of files whether all of them passed. What failed goes to stderr. */
function cells ({ ok, pass, failures, failedFiles, stderr }, columns, where, required) {
  if (!ok) console.error(`${where}:\n${failures.join('\n')}\n${stderr}`)
  if (!ok && required) process.exitCode = 1
  // A run that ends before its first test names no file.
  const aborted = !ok && failedFiles.length === 0
  const states = columns.map((files) => aborted || files.some((file) => failedFiles.includes(file)) ? 'fails' : 'ok')
  return [...states, pass]
}

const row = (...texts) => console.log(`| ${texts.flat().join(' | ')} |`)

/** The tests of hosts on each pair of Node and Fastify. */
function tryFastify () {
  const modules = fastifyModules()
  const columns = Object.values(groups)
  row('Node', 'Fastify', Object.keys(groups), 'tests passed')
  row(['---', '---', ...columns.map(() => '---'), '---'])
  for (const [node, name] of quick ? quickPairs : pairs) {
    if (modules[name] === undefined) continue
    const version = versionOf(modules[name])
    const present = columns.flat().filter((file) => absent[name]?.[file] === undefined)
    const result = tests(node, present, { env: { FASTIFY: modules[name] } })
    row(node, version, cells(result, columns, `Node ${node}, Fastify ${version}`, name !== 'next'))
  }
}

/** Packages of a Nest host; the major version says which. */
const nestPackages = (major) => ['common', 'core', 'platform-fastify'].map((name) => `@nestjs/${name}@${major}`)

const versionIn = (folder, name) =>
  JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version

/** The Fastify that Nest's adapter loads: a copy of its own where another version is at the top. */
function fastifyOfNest (folder) {
  const adapter = join(folder, 'node_modules/@nestjs/platform-fastify')
  return versionIn(existsSync(join(adapter, 'node_modules/fastify')) ? adapter : folder, 'fastify')
}

/** The tests of Nest hosts on each pair of Node and Nest, with the package as it ships. */
function tryNest () {
  const tarball = pack()
  const nestHost = (major) =>
    hostWith(['test/hosts/nest-host.mjs'], [tarball, ...nestPackages(major), 'reflect-metadata@0.2', 'rxjs@7'])
  const folders = { 11: nestHost(11), 12: nestHost(12) }
  console.log()
  row('Node', 'NestJS', 'its Fastify', 'guards, prefix, CORS, logger', 'tests passed')
  row(['---', '---', '---', '---', '---'])
  for (const [node, major] of nestPairs) {
    const versions = [versionIn(folders[major], '@nestjs/core'), fastifyOfNest(folders[major])]
    const files = ['test/hosts/nest.test.ts']
    const result = tests(node, files, { env: { NEST: folders[major] } })
    row(node, versions, cells(result, [files], `Node ${node}, NestJS ${major}`, true))
  }
}

/** The same sign-ins and faults with each Redis client that a host may pass in, on each Node. */
function tryRedisClients () {
  const names = ['ioredis-5.4', 'ioredis-5.11', 'ioredis', 'iovalkey']
  const versions = names.map((name) => versionIn('.', name))
  const files = ['test/faults/clients.test.ts']
  console.log()
  row('Node', 'ioredis', 'iovalkey', 'sign-ins and faults', 'tests passed')
  row(['---', '---', '---', '---', '---'])
  for (const node of redisNodes) {
    const result = tests(node, files)
    const clients = [versions.slice(0, 3).join(', '), versions[3]]
    row(node, clients, cells(result, [files], `Node ${node}, Redis clients`, true))
  }
}

const parts = { fastify: tryFastify, nest: tryNest, redis: tryRedisClients }
const chosen = process.argv.slice(2).filter((name) => name in parts)

build()
for (const [version, files] of Object.entries(absent)) {
  for (const [file, option] of Object.entries(files)) {
    console.log(`Fastify ${version} has no ${option}: ${file} is left out.`)
  }
}
for (const [name, tryPart] of Object.entries(parts)) {
  if (chosen.length === 0 || chosen.includes(name)) tryPart()
}
