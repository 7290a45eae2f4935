/**
 * Signs in against this package again and again and prints what its memory does:
 * `node test/bench/soak.js --flows 10000000 --store memory|redis`.
 */
import { parseArgs } from 'node:util'
import { describePins, machine, pinSelf } from './machine.js'
import { Redis } from './redis.js'
import { withServer } from './round.js'
import { serverNamed } from './servers.js'
import { slope } from './statistics.js'

const { values: flags } = parseArgs({
  options: {
    flows: { type: 'string', default: '1000000' },
    store: { type: 'string', default: 'memory' },
    server: { type: 'string' },
    every: { type: 'string' },
    concurrency: { type: 'string', default: '32' }
  }
})
const stores = { memory: 'ours-memory', redis: 'ours-url' }
const name = flags.server ?? stores[flags.store]
if (!name) throw new Error('--store is memory or redis')

const flows = Number(flags.flows)
const every = Number(flags.every ?? Math.ceil(flows / 50))
const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1).padStart(8)

pinSelf()
const redis = await Redis.start()
console.log(
  `${name}, ${flows.toLocaleString('en')} sign-ins; ${machine}, Redis ${await redis.version()}; ${describePins()}`
)
console.log('Memory after a full garbage collection, in MB\n\n       sign-ins     heap      RSS  sign-ins/s')

try {
  const samples = []
  await withServer(
    { server: serverNamed(name), redis, concurrency: Number(flags.concurrency) },
    async (running, load) => {
      for (let done = 0; done < flows;) {
        const { seconds, times } = await load.signIn(Math.min(every, flows - done))
        done += times.length
        const { heapUsed, rss } = await running.memory()
        samples.push({ done, heapUsed, rss })
        console.log(
          `${done.toLocaleString('en').padStart(15)} ${megabytes(heapUsed)} ${megabytes(rss)} ${Math.round(
            times.length / seconds
          )
            .toString()
            .padStart(11)}`
        )
      }
    }
  )
  printSlopes(samples)
} finally {
  await redis.stop()
}

/** The slope over the last four fifths: the first fifth is warm-up. */
function printSlopes (samples) {
  const settled = samples.slice(Math.floor(samples.length / 5))
  if (settled.length < 3) return console.log('\nToo few samples for a slope.')
  for (const kind of ['heapUsed', 'rss']) {
    const bytes = slope(settled.map((sample) => [sample.done, sample[kind]]))
    console.log(`${kind === 'rss' ? 'RSS' : '\nheap'}: ${bytes.toFixed(3)} bytes per sign-in`)
  }
}
