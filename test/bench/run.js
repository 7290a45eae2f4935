// What a sign-in costs a server in processor time: README.md beside this file says how, and how sure that is.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { midMean, ratioOf } from './ratio.js'
import { startRedis } from './redis.js'
import { RunningServer } from './running-server.js'
import { turnsOf, warmUp } from './turns.js'

/** Sign-ins of each server in a round: 400 turns on 32 connections. */
const SIGN_INS = 51_200

const { values: { rounds: count, connections, other, self, extra } } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '32' },
    other: { type: 'string' },
    self: { type: 'boolean' },
    extra: { type: 'string' }
  }
})

/** The first is what the others are compared with. */
const servers = [ours('fastify-partner-sso'), ...others()]

function others () {
  if (self) return [ours('itself')]
  if (extra) return [ours(`itself, with ${extra} µs of extra work`, { extra: Number(extra) })]
  if (other) return [ours(other, { checkout: resolve(other) })]
  return [
    { title: 'bare Fastify', module: 'bare' },
    { title: '@node-oauth/oauth2-server, in the clear', module: 'peer', isSealed: false },
    { title: '@node-oauth/oauth2-server, equal promises', module: 'peer', isSealed: true }
  ]
}

function ours (title, changes) {
  return { title, module: 'ours', checkout: resolve('.'), ...changes }
}

/** One round: new processes, warm, which take their turns. A list of turns, each with the cost of every server. */
async function roundOf (redisUrl) {
  const running = []
  for (const server of servers) {
    running.push(await RunningServer.start({ ...server, redisUrl }, Number(connections)))
  }
  await warmUp(running)
  const turns = await turnsOf(running, SIGN_INS)
  for (const server of running) server.stop()
  return turns
}

const redisUrl = await startRedis()
const rounds = []
for (let round = 0; round < Number(count); round++) {
  rounds.push(await roundOf(redisUrl))
  console.error(`round ${round + 1} of ${count}`)
}

console.log('| CPU of a sign-in | user µs | system µs | × the first | 95 % interval |\n|---|--:|--:|--:|---|')
for (const [at, { title }] of servers.entries()) {
  const costOf = (kind) => midMean(rounds.flat().map((turn) => turn[at][kind])).toFixed(0)
  const { ratio, from, to } = ratioOf(rounds.map((turns) => turns.map((turn) => turn[at].both / turn[0].both)))
  const verdict = at > 0 && from <= 1 && to >= 1 ? ': cannot be told apart' : ''
  const interval = at === 0 ? '' : `${from.toFixed(3)} to ${to.toFixed(3)}${verdict}`
  console.log(`| ${title} | ${costOf('user')} | ${costOf('system')} | ${ratio.toFixed(3)} | ${interval} |`)
}
process.exit()
