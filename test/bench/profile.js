// Where the processor time of a sign-in goes, by cause: README.md beside this file.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from './redis.js'
import { RunningServer } from './running-server.js'
import { warmUp } from './turns.js'

const CONNECTIONS = 32
const SIGN_INS = 51_200

const { values: { functions } } = parseArgs({ options: { functions: { type: 'string', default: '0' } } })

const SERVERS = [
  { title: 'this package', module: 'ours', checkout: resolve('.') },
  { title: 'bare', module: 'bare' },
  { title: 'peer, clear', module: 'peer', isSealed: false },
  { title: 'peer, equal', module: 'peer', isSealed: true }
]

/** The cause of what a function does itself: that of the first expression which matches its name and file. */
const CAUSES = Object.entries({
  'garbage collection': /^\(garbage collector\)/,
  idle: /^\(idle\)/,
  'HMAC, SHA-256 and keys': /grants\/keys|internal\/crypto\/(hash|hashnames|keys)/,
  'AES-GCM': /grants\/sealing|internal\/crypto\/cipher/,
  'random values': /internal\/crypto\/random/,
  'parameters and form': /http\/(parameters|form|authorization-)|internal\/(url|querystring)|fast-querystring|formbody/,
  'check of the record': /user-information|typebox/,
  'time limits': /time-limit|internal\/timers|node:timers/,
  'events and log': /dist\/events|abstract-logging|diagnostics_channel/,
  'response headers': /dist\/http\/responses/,
  'the rest of the plugin': /\/dist\//,
  'oauth2-server': /node-oauth/,
  'the host': /bench\/(host|servers)/,
  'Redis client': /ioredis|redis-parser|denque|standard-as-callback/,
  Fastify: /node_modules/,
  'HTTP of Node': /node:(_http|internal\/http)/,
  'sockets, streams and events of Node': /node:(net|events|buffer|stream|internal\/(stream|buffer|net|event))/,
  'the rest of Node': /node:/
})

/** Microseconds of a sign-in by cause, and by function, without those of other functions that it calls. */
function costsOf (profile) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  for (const node of profile.nodes) for (const id of node.children ?? []) nodes.get(id).parent = node
  const byCause = new Map()
  const byFunction = new Map()
  for (const [at, id] of profile.samples.entries()) {
    const { cause, node } = causeOf(nodes.get(id))
    const microseconds = profile.timeDeltas[at] / SIGN_INS
    add(byCause, cause, microseconds)
    add(byFunction, `${node.callFrame.functionName} ${fileOf(node)}`, microseconds)
  }
  return { byCause, byFunction }
}

/** What V8 and the C++ of Node do, which is in no file, counts for the function that has called it. */
function causeOf (node) {
  const found = CAUSES.find(([, expression]) => expression.test(`${node.callFrame.functionName} ${node.callFrame.url}`))
  if (found !== undefined) return { cause: found[0], node }
  return node.parent === undefined ? { cause: 'native code', node } : causeOf(node.parent)
}

const fileOf = ({ callFrame: { url, lineNumber } }) => `${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`

const add = (sums, key, value) => sums.set(key, (sums.get(key) ?? 0) + value)

const redisUrl = await startRedis()
const all = []
for (const setting of SERVERS) {
  const server = await RunningServer.start({ ...setting, redisUrl }, CONNECTIONS)
  await warmUp([server])
  all.push(costsOf(await server.profileOf(SIGN_INS)))
  server.stop()
}

const row = (cells) => `| ${cells.join(' | ')} |`
console.log(row(['µs of a sign-in', ...SERVERS.map(({ title }) => title)]))
console.log(row(['---', ...SERVERS.map(() => '--:')]))
const causes = [...CAUSES.map(([cause]) => cause), 'native code'].filter((cause) => cause !== 'idle')
for (const cause of causes) console.log(row([cause, ...all.map(({ byCause }) => (byCause.get(cause) ?? 0).toFixed(1))]))
const sum = ({ byCause }) => causes.reduce((total, cause) => total + (byCause.get(cause) ?? 0), 0)
console.log(row(['all', ...all.map((costs) => sum(costs).toFixed(1))]))

for (const [name, cost] of [...all[0].byFunction].sort(([, a], [, b]) => b - a).slice(0, Number(functions))) {
  console.log(cost.toFixed(1), name)
}
process.exit()
