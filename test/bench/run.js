/** The benchmark: README.md beside this file explains it, and is written by a run of all parts. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { capacity } from './capacity.js'
import { findNode, pinning, pinSelf } from './machine.js'
import { Redis } from './redis.js'
import { refusals } from './refusals.js'
import { allServers } from './servers.js'
import { slices } from './slices.js'
import { soak } from './soak.js'
import { startUp } from './start-up.js'

const parts = { slices, refusals, 'start-up': startUp, capacity, soak }
const page = new URL('README.md', import.meta.url)

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: 'string', default: '24,26' },
    servers: { type: 'string', default: allServers.join() },
    concurrency: { type: 'string', default: '32,128' },
    rounds: { type: 'string', default: '2' },
    'sign-ins': { type: 'string', default: '200000' }
  }
})
const unknown = positionals.find((name) => parts[name] === undefined)
if (unknown !== undefined) throw new Error(`No part "${unknown}"; there are: ${Object.keys(parts).join(', ')}`)

const cores = availableParallelism()
pinSelf()
const redis = await Redis.start()
const begun = performance.now()
const setting = {
  redis,
  nodes: flags.node.split(',').map(findNode),
  names: flags.servers.split(','),
  concurrencies: flags.concurrency.split(',').map(Number),
  rounds: Number(flags.rounds),
  signIns: Number(flags['sign-ins']),
  say: (text) => console.error(text)
}
const sections = { run: await describeRun(setting) }
console.log(sections.run)
for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
  sections[name] = await parts[name](setting)
  console.log(`\n${sections[name]}`)
}
sections.run += ` It took ${Math.ceil((performance.now() - begun) / 60_000)} minutes.`
if (positionals.length === 0) writePage(sections)
await redis.stop()

async function describeRun ({ nodes }) {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', 'lib', 'package-lock.json') === '' ? '' : ' with changes'
  const command = ['npm run bench', ...process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : []].join(' ')
  const servers = nodes.map(({ version }) => version).join(' and ')
  const commit = git('rev-parse', '--short', 'HEAD')
  return [
    `\`${command}\` on ${new Date().toISOString().slice(0, 10)}, commit ${commit}${changed}:`,
    `servers on Node ${servers}, load generator on Node ${process.versions.node}, Redis ${await redis.version()};`,
    `${process.platform} ${process.arch}, ${cores} cores, ${pinning}.`
  ].join('\n')
}

/** Puts each section between its two marks. */
function writePage (sections) {
  const text = Object.entries(sections).reduce((text, [name, section]) => {
    const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`]
    const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
    if (from < begin.length || to < from) throw new Error(`README.md has no marks of the section ${name}`)
    return text.slice(0, from) + section + text.slice(to)
  }, readFileSync(page, 'utf8'))
  writeFileSync(page, text)
}
