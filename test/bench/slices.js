import { napping } from './nap.js'
import { openServer, withOutput } from './round.js'
import { serverNamed } from './servers.js'
import { middle } from './statistics.js'
import { figure, table } from './table.js'

const CONCURRENT = [1, 32, 128]
const COMPARED = ['ours-url', 'ours-memory', 'bare', 'bare-map', 'node-oauth-pipelined']
const REFERENCES = ['bare', 'bare-map', 'ours-url']
const GENERATORS = { 'asleep by the clock': napping, 'waits on sockets': (work) => work() }

const SLICES_A_ROUND = 20

/** Sign-ins in a slice: as few as last some tenths of a second. */
const sliceOf = (concurrency) => 250 + 10 * concurrency

/**
 * What a sign-in costs, by turns in short slices, all servers at once: what slows the machine down for a second or
 * more slows all of them down, and does not show in the ratio of two slices that follow each other.
 *
 * @returns {Promise<string>} the figures as Markdown
 */
export async function slices ({ servers, isChosen, redis, rounds, warmUp, say }) {
  const compared = isChosen ? servers : COMPARED.map(serverNamed)
  const references = compared.filter(({ name }) => REFERENCES.includes(name))
  const rows = []
  for (const concurrency of CONCURRENT) {
    const costs = await measure({ compared, redis, concurrency, count: rounds * SLICES_A_ROUND, warmUp })
    for (const server of compared) {
      for (const generator of Object.keys(GENERATORS)) {
        const own = costs.get(server)[generator]
        const ratio = (reference) => {
          const others = costs.get(reference)[generator]
          return reference === server ? '1' : interval(own.map((cost, index) => cost / others[index]))
        }
        rows.push([
          server.title, String(concurrency), generator, figure(middle(own).median), ...references.map(ratio)
        ])
        say(rows.at(-1).join('  '))
      }
    }
  }
  return table([
    'Server', 'sign-ins at once', 'portal', 'CPU µs per sign-in', ...references.map(({ name }) => `× ${name}`)
  ], rows)
}

/** The cost of each slice, by server and load generator. */
async function measure ({ compared, redis, concurrency, count, warmUp }) {
  await redis.reset()
  const flows = sliceOf(concurrency)
  const opened = []
  const costs = new Map()
  try {
    for (const server of compared) {
      const { running, load, close } = await openServer({ server, redis, concurrency })
      opened.push({ server, running, load, close })
      costs.set(server, Object.fromEntries(Object.keys(GENERATORS).map((name) => [name, []])))
      await load.checkSingleUse().catch((error) => { throw withOutput(error, server, running) })
      await load.signIn(warmUp)
    }
    for (let slice = 0; slice < count; slice++) {
      // There and back, so that none is always the one after another.
      for (const { server, running, load } of slice % 2 === 0 ? opened : opened.toReversed()) {
        for (const [name, mode] of Object.entries(GENERATORS)) {
          const before = await running.cpu()
          await mode(() => load.signIn(flows))
          costs.get(server)[name].push((await running.cpu() - before) / flows)
        }
      }
    }
    return costs
  } finally {
    for (const { close } of opened) await close()
  }
}

function interval (ratios) {
  const { median, from, to } = middle(ratios)
  return `${median.toFixed(2)} (${from.toFixed(2)}–${to.toFixed(2)})`
}
