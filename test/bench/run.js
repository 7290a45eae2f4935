/**
 * The benchmark: `node test/bench/run.js [compare] [slices] [turns] [refusals] [capacity] [start-up] [growth]`, all
 * parts when none is named. See README.md beside it.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { capacity } from './capacity.js'
import { compare } from './compare.js'
import { growth } from './growth.js'
import { describePins, machine, pinSelf, useNode } from './machine.js'
import { writeSection } from './readme.js'
import { Redis } from './redis.js'
import { refusals } from './refusals.js'
import { serverNamed, servers } from './servers.js'
import { slices } from './slices.js'
import { startUp } from './start-up.js'
import { turns } from './turns.js'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    flows: { type: 'string' },
    'warm-up': { type: 'string' },
    concurrency: { type: 'string', default: '32' },
    servers: { type: 'string' },
    node: { type: 'string' },
    'no-write': { type: 'boolean', default: false }
  }
})

const parts = {
  compare: (setting) => compare(setting),
  slices: (setting) => slices({ ...setting, isChosen: flags.servers !== undefined }),
  turns: (setting) => turns({ ...setting, flows: setting.flows / 2 }),
  refusals: (setting) => refusals({
    ...setting,
    servers: setting.servers.filter(({ name }) => ['ours-url', 'ours-memory'].includes(name)),
    flows: setting.flows / 2
  }),
  capacity: (setting) => capacity(setting),
  'start-up': (setting) => startUp({
    ...setting,
    times: flags.quick ? 3 : 15,
    ours: setting.servers.some(({ ours }) => ours)
  }),
  growth: (setting) => growth({
    ...setting,
    servers: setting.servers.filter(({ name }) => ['ours-url', 'ours-memory', 'bare'].includes(name)),
    flows: setting.flows / 2,
    quick: flags.quick
  })
}
const chosenParts = positionals.length > 0 ? positionals : Object.keys(parts)
for (const name of chosenParts) {
  if (!parts[name]) throw new Error(`No part "${name}"; there are: ${Object.keys(parts).join(', ')}`)
}

const chosenServers = flags.servers?.split(',').map(serverNamed) ?? servers
if (chosenServers.some(({ ours }) => ours) && !existsSync(new URL('../../dist/index.js', import.meta.url))) {
  throw new Error('The package is not built: run `npm run build` first, or name other servers with --servers')
}

pinSelf()
const redis = await Redis.start()
const servedBy = flags.node === undefined ? '' : `, servers on Node ${useNode(flags.node)}`
const kind = `${machine}${servedBy}, Redis ${await redis.version()}; ${describePins()}`
console.log(`${kind}\n`)

const write = !flags.quick && !flags.servers && !flags.node && !flags['no-write']
const setting = {
  redis,
  servers: chosenServers,
  rounds: Number(flags.rounds ?? (flags.quick ? 1 : 3)),
  flows: Number(flags.flows ?? (flags.quick ? 3000 : 20_000)),
  warmUp: Number(flags['warm-up'] ?? (flags.quick ? 2000 : 10_000)),
  concurrency: Number(flags.concurrency),
  write,
  say: (text) => console.error(text)
}

try {
  for (const name of chosenParts) {
    const result = await parts[name](setting)
    console.log(`\n${result}\n`)
    const day = new Date().toISOString().slice(0, 10)
    if (write) writeSection(name, `${day}; ${kind}; ${setting.rounds} rounds.\n\n${result}`)
  }
} finally {
  await redis.stop()
}
