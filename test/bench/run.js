// What a sign-in costs a server in processor time: README.md beside this file.
//
//   npm run bench -- [--turns 15] [--other ../other-checkout]     the other one is built
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CONNECTIONS, signIn } from './load.js'

/** Sign-ins on each connection, in a turn of a server. */
const EACH = 30

const { values: { turns, other } } = parseArgs({
  options: { turns: { type: 'string', default: '15' }, other: { type: 'string' } }
})

/** The first is what the others are compared with. */
const servers = [
  { title: 'fastify-partner-sso', module: 'ours', checkout: resolve('.') },
  ...other === undefined ? [] : [{ title: other, module: 'ours', checkout: resolve(other) }],
  { title: 'bare Fastify', module: 'bare' },
  { title: '@node-oauth/oauth2-server, equal promises', module: 'peer' }
]

/** The server's process, warm: a function that signs in, and returns the microseconds of a sign-in. */
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
    await signIn(`http://127.0.0.1:${port}`, EACH)
    return (await ask() - before) / (EACH * CONNECTIONS)
  }
  for (let turn = 0; turn < 5; turn++) await cost()
  return cost
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

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.round(share * (values.length - 1))]

const redisUrl = await startRedis()
const running = []
for (const server of servers) running.push({ ...server, cost: await started(server, redisUrl), costs: [] })
// By turns: other work slows neighbours alike. There and back, so that none always follows the same other.
for (let turn = 0; turn < Number(turns); turn++) {
  for (const server of turn % 2 === 0 ? running : running.toReversed()) server.costs.push(await server.cost())
}

console.log('| CPU of a sign-in | µs | × the first | middle half |\n|---|--:|--:|--:|')
for (const { title, costs } of running) {
  const ratios = costs.map((cost, turn) => cost / running[0].costs[turn])
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2))
  console.log(`| ${title} | ${quantile(costs, 0.5).toFixed(0)} | ${median} | ${low} to ${high} |`)
}
process.exit()
