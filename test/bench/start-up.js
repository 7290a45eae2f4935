import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { interval, median, table } from './figures.js'
import { onServerCore } from './machine.js'

const program = fileURLToPath(new URL('probe.js', import.meta.url))
const PROBES_A_ROUND = 8

const rows = {
  'import of Fastify': ({ fastify }) => fastify,
  'import of the plugin': ({ plugin }) => plugin,
  'Fastify alone, ready': ({ alone }) => alone,
  'with the plugin in process, ready': ({ together }) => together,
  'the plugin adds': ({ alone, together }) => together - alone
}

/** The milliseconds of imports and of `app.ready()`, each in a fresh process, by turns. */
export function startUp ({ nodes: [node], rounds, say }) {
  const turns = []
  for (let turn = 0; turn <= rounds * PROBES_A_ROUND; turn++) {
    const steps = ['fastify', 'plugin', 'alone', 'together']
    turns.push(Object.fromEntries(steps.map((step) => [step, probe(node, step)])))
  }
  turns.shift() // the first one finds the files cold
  say('start-up')
  return table(['Step', 'ms'], Object.entries(rows).map(([title, of]) => [title, interval(median(turns.map(of)), 1)]))
}

function probe (node, step) {
  const [command, args] = onServerCore(node.path, '--no-deprecation', program, step)
  return Number(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
}
