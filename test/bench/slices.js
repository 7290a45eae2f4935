import { figure, interval, median, table } from './figures.js'
import { Server } from './server.js'
import { serverNamed } from './servers.js'

const SLICES_A_ROUND = 20

/** Sign-ins of a slice: as few as last some tenths of a second. */
const sliceOf = (concurrency) => 250 + 10 * concurrency

/**
 * What a sign-in costs: all servers are up at once and sign in by turns, in short slices. Other work slows neighbouring
 * slices alike, so that their ratio hardly changes with it. Each round starts new processes.
 */
export async function slices ({ names, nodes, concurrencies, rounds, ...setting }) {
  const servers = names.map(serverNamed)
  const tables = []
  for (const node of nodes) {
    const columns = []
    for (const concurrency of concurrencies) {
      const costs = new Map(names.map((name) => [name, []]))
      for (let round = 0; round < rounds; round++) await measure(servers, costs, { ...setting, node, concurrency })
      columns.push(costs)
      setting.say(`slices: Node ${node.version}, ${concurrency} at once`)
    }
    tables.push(table(
      [`Node ${node.version}, CPU µs of a sign-in`, ...concurrencies.map((count) => `${count} at once`), 'target'],
      servers.map((server) => [server.title, ...columns.map((costs) => describe(server, costs)), server.target ?? ''])
    ))
  }
  return tables.join('\n\n')
}

/** Adds the cost of each slice of a round. */
async function measure (servers, costs, setting) {
  const running = []
  for (const { name } of servers) running.push([name, await Server.start(name, setting)])
  const count = sliceOf(setting.concurrency)
  for (let slice = 0; slice < SLICES_A_ROUND; slice++) {
    // There and back, so that none always follows the same other.
    for (const [name, server] of slice % 2 === 0 ? running : running.toReversed()) {
      costs.get(name).push(await server.cost(() => server.load.signIn(count)) / count)
    }
  }
  for (const [, server] of running) await server.stop()
}

/** The cost, and its ratio to the cost of the reference if that was measured too. */
function describe ({ name, reference }, costs) {
  const own = costs.get(name)
  const others = costs.get(reference)
  const cost = figure(median(own).value)
  return others === undefined ? cost : `${cost} × ${interval(median(own.map((value, index) => value / others[index])))}`
}
