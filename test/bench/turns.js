import { napping } from './nap.js'
import { withServer } from './round.js'
import { serverNamed } from './servers.js'
import { figure, table } from './table.js'

const CONCURRENT = [1, 32, 128]
const COMPARED = ['ours-url', 'bare', 'node-oauth-pipelined']
const GENERATORS = { 'asleep by the clock': napping, 'waits on sockets': (work) => work() }

/**
 * Why the cost of a sign-in hangs on the load generator: how many turns of the event loop the requests spread over, and
 * how many commands reach Redis together.
 *
 * @returns {Promise<string>} the figures as Markdown
 */
export async function turns ({ redis, flows, warmUp, say }) {
  const rows = []
  for (const concurrency of CONCURRENT) {
    for (const name of COMPARED) {
      const server = serverNamed(name)
      await withServer({ server, redis, concurrency }, async (running, load) => {
        await load.signIn(warmUp)
        for (const [generator, mode] of Object.entries(GENERATORS)) {
          const cost = await measure({ running, redis, flows, work: () => mode(() => load.signIn(flows)) })
          rows.push([server.title, String(concurrency), generator, ...cost.map(figure)])
          say(rows.at(-1).join('  '))
        }
      })
    }
  }
  return table([
    'Server', 'sign-ins at once', 'portal', 'CPU µs per sign-in', 'turns', 'requests in a turn', 'sleeps',
    'Redis reads (of 4 commands)'
  ], rows)
}

async function measure ({ running, redis, flows, work }) {
  await redis.resetCounters()
  const look = async () => ({ cpu: await running.cpu(), ...await running.loop(), reads: await redis.reads() })
  const before = await look()
  await work()
  const after = await look()
  const [cpu, turns, sleeps, reads] = ['cpu', 'turns', 'sleeps', 'reads'].map((name) =>
    (after[name] - before[name]) / flows)
  return [cpu, turns, 3 / turns, sleeps, reads]
}
