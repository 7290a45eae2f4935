import { RedisCluster } from './redis-cluster.js'
import { withServer } from './round.js'
import { onCluster, serverNamed } from './servers.js'
import { spread } from './statistics.js'
import { figure, figures, table } from './table.js'

const MILLION_AN_HOUR = 1e6 / 3600

/**
 * What an operator plans with: what a core of a host serves, what that costs Redis, and how the commands spread over a
 * Cluster. The load generator waits on its sockets, as the portal does.
 *
 * @returns {Promise<string>} the figures as Markdown
 */
export async function capacity ({ redis, rounds, say, ...setting }) {
  const cluster = await RedisCluster.start(3)
  try {
    const stores = [
      { title: 'in process', server: serverNamed('ours-memory'), redis },
      { title: 'one Redis', server: serverNamed('ours-url'), redis },
      { title: onCluster.title, server: onCluster, redis: cluster }
    ]
    const results = stores.map(() => [])
    for (let round = 1; round <= rounds; round++) {
      for (const [index, { title, ...each }] of stores.entries()) {
        const result = await measure({ ...setting, ...each })
        results[index].push(result)
        const costs = `${figure(result.host)} µs of the host, ${figure(result.redis)} of Redis`
        say(`round ${round}  ${title.padEnd(28)} ${costs}`)
      }
    }
    return report(stores.map(({ title, server }, index) => ({ title, server, results: results[index] })))
  } finally {
    await cluster.stop()
  }
}

function measure ({ flows, warmUp, server, redis, concurrency }) {
  return withServer({ server, redis, concurrency }, async (running, load) => {
    await load.checkSingleUse()
    await load.signIn(warmUp)
    await redis.resetCounters()
    const before = { host: await running.cpu(), redis: await redis.cpu() }
    await load.signIn(flows)
    const host = (await running.cpu() - before.host) / flows
    const ofRedis = (await redis.cpu() - before.redis) / flows
    const commands = redis.commandsOfEach === undefined ? [await redis.commands()] : await redis.commandsOfEach()
    const calls = commands.map((each) => Object.values(each).reduce((total, count) => total + count, 0) / flows)
    return { host, redis: ofRedis, calls, redirections: await redis.redirections() }
  })
}

function report (stores) {
  const columns = stores.map(({ server, results }) => describe(server, results))
  const rows = Object.keys(columns[0]).map((name) => [name, ...columns.map((column) => column[name])])
  return table(['', ...stores.map(({ title }) => title)], rows)
}

function describe (server, results) {
  const host = spread(results.map((result) => result.host))
  const redis = spread(results.map((result) => result.redis))
  const { calls } = results.at(-1)
  const ofRedis = (text) => server.redis ? text : '–'
  return {
    'host, CPU µs per sign-in': figures(host),
    'sign-ins per second and core of hosts': String(Math.round(1e6 / host.median)),
    'Redis commands per sign-in': ofRedis(calls.reduce((total, count) => total + count, 0).toFixed(2)),
    'of these on each node': ofRedis(calls.map((count) => count.toFixed(2)).join(', ')),
    'redirected (MOVED, ASK)': ofRedis(String(Math.max(...results.map((result) => result.redirections)))),
    'Redis, CPU µs per sign-in': ofRedis(figures(redis)),
    'cores of hosts that keep one core of Redis busy': ofRedis(figure(host.median / redis.median)),
    'a million sign-ins an hour: cores of hosts': figure(host.median * MILLION_AN_HOUR / 1e6),
    'a million sign-ins an hour: cores of Redis': ofRedis(figure(redis.median * MILLION_AN_HOUR / 1e6))
  }
}
