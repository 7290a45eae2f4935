// A node of a Cluster executes a command, and its connection is cut before the reply. Cluster itself sends such a
// command again: a redemption would then read as a code that is unknown, and the store of a token as a replay.
import t from 'tap'
import type { Test } from 'tap'
import { pass, startProxy } from './proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import { clusterClients, ofTest } from '../helpers/redis-clients.ts'
import { executed, issue, readyAgain, recovered, scene } from './outages.ts'
import type { Issued } from './outages.ts'
import { until } from '../helpers/until.ts'
import type { Wire } from '../wire.ts'

/** A Cluster of one node, which is reached by a proxy. */
async function startCutCluster (t: Test) {
  const redis = await startRedis(t, ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'])
  const proxy = await startProxy(t, redis.port)
  await redis.client.config('SET', 'cluster-announce-port', String(proxy.port))
  await redis.client.cluster('ADDSLOTSRANGE', 0, 16383)
  await until(async () => String(await redis.client.cluster('INFO')).includes('cluster_state:ok'))

  /** Cuts the connection when the reply to the next such command has come: the node has executed it. */
  const cutAfter = (command: string): void => {
    proxy.onRequest = (bytes) => {
      if (!bytes.includes(`\r\n${command}\r\n`)) return bytes
      proxy.onRequest = pass
      proxy.onReply = () => {
        proxy.onReply = pass
        return 'cut'
      }
      return bytes
    }
  }
  return { redis, port: proxy.port, cutAfter }
}

/** Sends the request whose command it is: the error that it ends with. */
type Send = (portal: Wire, issued: Issued) => Promise<string | null>

const authorize: Send = async (portal) => (await portal.authorize()).redirect.get('error')
const redeem: Send = async (portal, { code }) => (await portal.token({ code })).json.error
const user: Send = async (portal, { token }) => (await portal.user(token)).json.error

/** Each store command of a sign-in, and what the node executes for its request. */
const cuts: Array<[what: string, command: string, send: Send, commands: string[]]> = [
  ['the SET of the code', 'set', authorize, ['set']],
  ['the GETDEL of the code', 'getdel', redeem, ['getdel']],
  ['the SET of the token', 'set', redeem, ['getdel', 'set']],
  ['the GETDEL of the token', 'getdel', user, ['getdel']]
]

t.test('a reply that is cut off', async (t) => {
  const { redis, port, cutAfter } = await startCutCluster(t)
  for (const { name, connect } of clusterClients) {
    const client = ofTest(t, connect([{ host: '127.0.0.1', port }]))
    const host = await scene(t, { redis: client, keyPrefix: `${name}:` })
    for (const [what, command, send, commands] of cuts) {
      const issued = await issue(host)
      await redis.client.slowlog('RESET')
      cutAfter(command)
      t.equal(await send(host.portal, issued), 'temporarily_unavailable', `${name}: ${what}`)
      t.match(host.events.at(-1), { type: 'store_unavailable' }, `${name}: ${what}: no replay is reported`)
      await readyAgain(t, host)
      t.strictSame(await executed(redis), commands, `${name}: ${what}: no command is executed twice`)
    }
    await recovered(t, host)
  }
})
