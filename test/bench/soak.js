import { interval, slope, table } from './figures.js'
import { Server } from './server.js'
import { serverNamed } from './servers.js'

const SAMPLES = 25
const WARM_UP_SAMPLES = 5

/** What the process holds after a full garbage collection, again and again over many sign-ins. */
export async function soak ({ nodes: [node], redis, signIns, say }) {
  const rows = []
  for (const name of ['ours-url', 'ours-memory']) {
    const samples = await Server.during(name, { node, redis }, async (running) => {
      const samples = []
      for (let sample = 1; sample <= SAMPLES; sample++) {
        await running.load.signIn(Math.ceil(signIns / SAMPLES))
        samples.push({ done: sample * signIns / SAMPLES, ...await running.memory() })
      }
      return samples.slice(WARM_UP_SAMPLES)
    })
    rows.push([serverNamed(name).title, ...describe(samples)])
    say(`soak: ${name}`)
  }
  return table([`${signIns.toLocaleString('en')} sign-ins`, 'heap, MB', 'RSS, MB', 'heap, bytes per sign-in'], rows)
}

function describe (samples) {
  const ends = (kind) => [samples[0], samples.at(-1)].map((sample) => (sample[kind] / 2 ** 20).toFixed(1)).join(' to ')
  return [ends('heapUsed'), ends('rss'), interval(slope(samples.map(({ done, heapUsed }) => [done, heapUsed])))]
}
