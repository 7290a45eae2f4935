import { napping } from './nap.js'
import { withServer } from './round.js'
import { serverNamed } from './servers.js'
import { spread } from './statistics.js'
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
export async function turns ({ redis, rounds, flows, warmUp, say }) {
  const rows = []
  for (const concurrency of CONCURRENT) {
    for (const name of COMPARED) {
      const server = serverNamed(name)
      await withServer({ server, redis, concurrency }, async (running, load) => {
        await load.signIn(warmUp)
        const results = Object.keys(GENERATORS).map(() => [])
        for (let round = 0; round < rounds; round++) {
          for (const [index, mode] of Object.values(GENERATORS).entries()) {
            results[index].push(await measure({ running, redis, flows, work: () => mode(() => load.signIn(flows)) }))
          }
        }
        for (const [index, generator] of Object.keys(GENERATORS).entries()) {
          const [cpu, turns, sleeps, reads] = medians(results[index])
          const figures = [cpu, turns, 3 / turns, sleeps, reads].map(figure)
          rows.push([server.title, String(concurrency), generator, ...figures])
          say(rows.at(-1).join('  '))
        }
      })
    }
  }
  return table([
    'Server', 'sign-ins at once', 'portal', 'CPU µs per sign-in', 'turns', 'requests in a turn', 'sleeps', 'Redis reads'
  ], rows)
}

/** CPU, turns, sleeps and reads by Redis of one sign-in. */
async function measure ({ running, redis, flows, work }) {
  await redis.resetCounters()
  const look = async () => {
    const { turns, sleeps } = await running.loop()
    return [await running.cpu(), turns, sleeps, await redis.reads()]
  }
  const before = await look()
  await work()
  const after = await look()
  return after.map((value, index) => (value - before[index]) / flows)
}

/** The median of each figure over the rounds. */
const medians = (rounds) => rounds[0].map((_, index) => spread(rounds.map((figures) => figures[index])).median)
