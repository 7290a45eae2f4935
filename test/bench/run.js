// What a sign-in costs a server in processor time: README.md beside this file.
//
//   npm run bench -- [--rounds 5] [--connections 32] [--other ../other-checkout]     the other one is built
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { signIn } from './load.js'

/** Sign-ins in a turn of a server. As many on each of 32 connections, or of 128. */
const SIGN_INS = 1536
/** Turns of each server in a round. */
const TURNS = 8

const { values: { rounds, connections, other } } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    other: { type: 'string' }
  }
})

/** The first is what the others are compared with. */
const servers = [
  { title: 'fastify-partner-sso', module: 'ours', checkout: resolve('.') },
  ...other === undefined ? [] : [{ title: other, module: 'ours', checkout: resolve(other) }],
  { title: 'bare Fastify', module: 'bare' },
  { title: '@node-oauth/oauth2-server, equal promises', module: 'peer' }
]

/** A process of the server, warm, with a function that signs in and returns the microseconds of a sign-in. */
async function started (server, redisUrl) {
  const argument = JSON.stringify({ ...server, redisUrl })
  const execArgv = ['--no-deprecation', '--disable-warning=PartnerSsoWarning']
  const child = fork(new URL('serve.js', import.meta.url), [argument], { execArgv })
  const ask = async () => {
    child.send('cpu')
    return (await once(child, 'message'))[0]
  }
  const [port] = await once(child, 'message')
  const cost = async () => {
    const before = await ask()
    await signIn(`http://127.0.0.1:${port}`, connections, SIGN_INS)
    return (await ask() - before) / SIGN_INS
  }
  // V8 optimizes for some ten turns.
  for (let turn = 0; turn < 2 * TURNS; turn++) await cost()
  return { child, cost, costs: [] }
}

/** A Redis on a free port, with nothing on disk. The shell ends it when its own input ends, as with this process. */
async function startRedis () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  const script = `redis-server --port ${port} --save '' --loglevel warning & cat; kill $!`
  spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'inherit'] })
  return `redis://127.0.0.1:${port}`
}

/** The cost of a sign-in of each server, in a round. V8 compiles no two processes alike: each round has new ones. */
async function roundOf (redisUrl) {
  const running = []
  for (const server of servers) running.push(await started(server, redisUrl))
  // By turns: other work slows neighbours alike. There and back, so that none always follows the same other.
  for (let turn = 0; turn < TURNS; turn++) {
    for (const { cost, costs } of turn % 2 === 0 ? running : running.toReversed()) costs.push(await cost())
  }
  for (const { child } of running) child.kill()
  return running.map(({ costs }) => median(costs))
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

const redisUrl = await startRedis()
const all = []
for (let round = 0; round < Number(rounds); round++) all.push(await roundOf(redisUrl))

console.log('| CPU of a sign-in | µs | × the first | lowest to highest |\n|---|--:|--:|--:|')
for (const [at, { title }] of servers.entries()) {
  const ratios = all.map((costs) => (costs[at] / costs[0]).toFixed(2)).sort()
  const cost = median(all.map((costs) => costs[at])).toFixed(0)
  console.log(`| ${title} | ${cost} | ${median(ratios)} | ${ratios[0]} to ${ratios.at(-1)} |`)
}
process.exit()
