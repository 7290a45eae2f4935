import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pinned } from './machine.js'
import { spread } from './statistics.js'
import { figures, table } from './table.js'

const probe = fileURLToPath(new URL('probe.js', import.meta.url))
const reference = 'import fastify'

const probes = [
  { title: reference, args: ['import', 'fastify'] },
  { title: 'import fastify-partner-sso', args: ['import', 'fastify-partner-sso'], ours: true },
  {
    title: 'import fastify-partner-sso, Fastify there already',
    args: ['import-beside-fastify', 'fastify-partner-sso'],
    ours: true
  },
  { title: 'import ioredis', args: ['import', 'ioredis'] },
  { title: 'import @node-oauth/oauth2-server', args: ['import', '@node-oauth/oauth2-server'] },
  { title: 'import @jmondi/oauth2-server', args: ['import', '@jmondi/oauth2-server'] },
  { title: 'import oidc-provider', args: ['import', 'oidc-provider'] },
  { title: 'ready: Fastify alone', args: ['register', 'nothing'] },
  { title: 'ready: with the plugin, in-process store', args: ['register', 'memory'], ours: true },
  { title: 'ready: with the plugin, Redis by URL', args: ['register', 'redis'], ours: true }
]

/** Import and registration times, each in fresh processes, by turns. @returns {Promise<string>} a Markdown table */
export async function startUp ({ redis, times, ours, say }) {
  const chosen = probes.filter((row) => ours || !row.ours)
  const measured = new Map(chosen.map((row) => [row, []]))
  for (let time = 0; time <= times; time++) {
    for (const row of chosen) {
      const milliseconds = await runProbe([...row.args, redis.url])
      if (time > 0) measured.get(row).push(milliseconds) // the first one finds the files cold
    }
    say(`start-up ${time} of ${times}`)
  }
  const { median } = spread(measured.get(chosen[0]))
  return table(['Step, in a fresh process', 'ms', `× ${reference}`], chosen.map((row) => {
    const result = spread(measured.get(row))
    return [row.title, figures(result), (result.median / median).toFixed(2)]
  }))
}

async function runProbe (args) {
  const [command, all] = pinned('server', [probe, ...args])
  const { stdout } = await promisify(execFile)(command, all)
  return Number(stdout)
}
