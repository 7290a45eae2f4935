import { writeFileSync } from 'node:fs'
import { plot } from './plot.js'
import { measureCost, measureRound, withServer } from './round.js'
import { spread } from './statistics.js'
import { figure, figures, table } from './table.js'

const live = 'live-records'

/** What grows. `setting` says what a value of the axis means for the server and the load. */
const axes = [
  {
    name: 'concurrency',
    title: 'Server CPU per sign-in against concurrent sign-ins',
    x: 'concurrent sign-ins',
    values: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    quick: [1, 32, 512],
    setting: (concurrency) => ({ concurrency })
  },
  {
    name: 'record-size',
    title: "Server CPU per sign-in against the record's size",
    x: 'bytes of the user information record, as JSON (the smallest that is allowed is about 150)',
    values: [150, 300, 600, 1200, 2400, 4800, 8192],
    quick: [150, 8192],
    setting: (recordBytes) => ({ size: { recordBytes } })
  },
  {
    name: 'portals',
    title: 'Server CPU per sign-in against the number of portals',
    x: 'portals registered, all in use',
    values: [1, 10, 100, 1000],
    quick: [1, 1000],
    setting: (portals) => ({ size: { portals } })
  },
  {
    name: live,
    title: 'Server CPU per sign-in against live records in the store',
    x: 'codes alive in the store meanwhile',
    values: [0, 1000, 10_000, 100_000, 1_000_000],
    quick: [0, 10_000]
  }
]

/** Draws one plot per axis into this folder. @returns {Promise<string>} the figures as Markdown */
export async function growth ({ servers, quick, write, say, ...setting }) {
  const sections = []
  for (const axis of axes) {
    const values = quick ? axis.quick : axis.values
    const run = axis.name === live ? fillStepByStep : interleaved
    const measured = await run({ servers, axis, values, say, ...setting })
    const series = servers.map((server) => ({
      name: server.short ?? server.name,
      points: measured.get(server).map(spread)
    }))
    const ticks = values.map((value) => value.toLocaleString('en'))
    if (write) {
      writeFileSync(
        new URL(`${axis.name}.svg`, import.meta.url),
        plot({ title: axis.title, x: axis.x, y: 'CPU µs per sign-in', ticks, series })
      )
    }
    sections.push(
      `![${axis.title}](${axis.name}.svg)\n\n${table(
        [axis.x, ...ticks],
        series.map(({ name, points }) => [name, ...points.map(figures)])
      )}`
    )
  }
  return sections.join('\n\n')
}

/** Each value in a process of its own, values and servers by turns. */
async function interleaved ({ servers, axis, values, rounds, flows, warmUp, concurrency, redis, say }) {
  const measured = new Map(servers.map((server) => [server, values.map(() => [])]))
  for (let round = 1; round <= rounds; round++) {
    for (const [index, value] of values.entries()) {
      for (const server of servers) {
        const setting = { server, redis, concurrency, flows, warmUp, ...axis.setting(value) }
        setting.flows = Math.min(flows, 2000 * setting.concurrency)
        const { cpuPerFlow } = await measureRound(setting)
        measured.get(server)[index].push(cpuPerFlow)
        say(`${axis.name} ${value}  ${server.name.padEnd(24)} ${figure(cpuPerFlow).padStart(6)} µs`)
      }
    }
  }
  return measured
}

/** One process per server, its store filled further and further with codes that nobody redeems. */
async function fillStepByStep ({ servers, axis, values, rounds, flows, warmUp, concurrency, redis, say }) {
  const measured = new Map()
  for (const server of servers) {
    measured.set(
      server,
      await withServer({ server, redis, concurrency, options: { codeLifetime: 600 } }, async (running, load) => {
        await load.signIn(warmUp)
        const points = []
        let alive = 0
        for (const value of values) {
          while (alive < value) alive += (await load.authorize(Math.min(10_000, value - alive))).length
          const costs = []
          for (let round = 1; round <= rounds; round++) {
            costs.push((await measureCost({ running, load, redis, flows })).cpuPerFlow)
          }
          points.push(costs)
          say(`${axis.name} ${value}  ${server.name.padEnd(24)} ${figure(spread(costs).median).padStart(6)} µs`)
        }
        return points
      })
    )
  }
  return measured
}
