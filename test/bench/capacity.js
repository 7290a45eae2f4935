import { figure, median, table } from './figures.js'
import { Server } from './server.js'

const SIGN_INS = 3000
const TURNS_A_ROUND = 3
const LIVE = 1000
const MILLION_AN_HOUR = 1e6 / 3600

/** What an operator plans with: processor time of hosts and Redis, and the size of what is alive. */
export async function capacity (setting) {
  const columns = []
  for (const name of ['ours-url', 'ours-memory']) columns.push(await measure(name, setting))
  setting.say('capacity')
  const rows = Object.keys(columns[0]).map((row) => [row, ...columns.map((column) => column[row] ?? '–')])
  return table(['', 'Redis', 'in process'], rows)
}

async function measure (name, { nodes: [node], redis, rounds }) {
  return await Server.during(name, { node, redis }, async (server) => {
    const turns = []
    for (let turn = 0; turn < rounds * TURNS_A_ROUND; turn++) turns.push(await costs(server, redis))
    const host = median(turns.map((turn) => turn.host)).value
    const store = median(turns.map((turn) => turn.store)).value
    return {
      'host, CPU µs of a sign-in': figure(host),
      'sign-ins per second and core': figure(1e6 / host),
      'a million sign-ins an hour, cores': figure(host * MILLION_AN_HOUR / 1e6),
      ...name === 'ours-url' && {
        'Redis, CPU µs of a sign-in': figure(store),
        'cores of hosts per core of Redis': figure(host / store),
        ...await sizes(server, redis)
      }
    }
  })
}

async function costs (server, redis) {
  let host
  const store = await redis.cost(async () => { host = await server.cost(() => server.load.signIn(SIGN_INS)) })
  return { host: host / SIGN_INS, store: store / SIGN_INS }
}

async function sizes ({ load }, redis) {
  await redis.empty()
  const codes = await load.authorize(LIVE)
  const code = await redis.bytes() / LIVE
  await load.token(codes)
  return { 'live code, bytes in Redis': figure(code), 'live token, bytes in Redis': figure(await redis.bytes() / LIVE) }
}
