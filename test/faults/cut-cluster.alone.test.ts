// A node of a Cluster executes a command, and its connection is cut before the reply. Cluster itself sends such a
// command again: a redemption would then read as a code that is unknown, and the store of a token as a replay.
// Alone: it sets the clock of its process.
import { STORE_TIMEOUT } from '../helpers/long-timers.ts'
import t from 'tap'
import type { Test } from 'tap'
import { pass, startProxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import { clusterClients, ofTest } from '../helpers/redis-clients.ts'
import { issue, readyAgain, recovered, scene } from '../helpers/outages.ts'
import type { Issued, Scene } from '../helpers/outages.ts'
import { until } from '../helpers/until.ts'

/** A Cluster of one node, which is reached by a proxy. */
async function startCutCluster (t: Test) {
  const redis = await startRedis(t, ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'])
  const proxy = await startProxy(t, redis.port)
  await redis.client.config('SET', 'cluster-announce-port', String(proxy.port))
  await redis.client.cluster('ADDSLOTSRANGE', 0, 16383)
  t.ok(await until(async () => String(await redis.client.cluster('INFO')).includes('cluster_state:ok')))

  /** Cuts the connection when the reply to the next such command has come: the node has executed it. */
  const cutAfter = (command: string): void => {
    proxy.onRequest = (bytes) => {
      if (bytes.toString('latin1').includes(`\r\n${command}\r\n`)) {
        proxy.onReply = () => {
          proxy.onReply = pass
          return 'cut'
        }
        proxy.onRequest = pass
      }
      return bytes
    }
  }
  /** How often the node has executed SET and GETDEL since `CONFIG RESETSTAT`. */
  const executed = async (): Promise<Record<string, number>> => {
    const stats = await redis.client.info('commandstats')
    return Object.fromEntries(Array.from(stats.matchAll(/^cmdstat_(set|getdel):calls=(\d+)/gm), ([, name, calls]) =>
      [name as string, Number(calls)]))
  }
  return { ...redis, port: proxy.port, cutAfter, executed }
}

interface Cut {
  command: 'set' | 'getdel'
  /** The request whose command it is, and the error that it ends with. */
  request: (host: Scene, issued: Issued) => Promise<string | null>
  /** What the node executes for the request. */
  executed: Record<string, number>
}

const authorize: Cut['request'] = async ({ portal }) => (await portal.authorize()).redirect.get('error')
const redeem: Cut['request'] = async ({ portal }, { code }) => (await portal.token({ code })).json.error
const user: Cut['request'] = async ({ portal }, { token }) => (await portal.user(token)).json.error

/** Each store command of a sign-in. */
const cuts: Record<string, Cut> = {
  'the SET of the code': { command: 'set', request: authorize, executed: { set: 1 } },
  'the GETDEL of the code': { command: 'getdel', request: redeem, executed: { getdel: 1 } },
  'the SET of the token': { command: 'set', request: redeem, executed: { getdel: 1, set: 1 } },
  'the GETDEL of the token': { command: 'getdel', request: user, executed: { getdel: 1 } }
}

const cluster = await startCutCluster(t)

for (const { name, connect } of clusterClients) {
  t.test(name, async (t) => {
    const client = ofTest(t, connect([{ host: '127.0.0.1', port: cluster.port }]))
    const host = await scene(t, { redis: client, keyPrefix: `${name}:`, storeTimeout: STORE_TIMEOUT })
    for (const [what, { command, request, executed }] of Object.entries(cuts)) {
      const given = await issue(host)
      await cluster.client.config('RESETSTAT')
      cluster.cutAfter(command)
      t.equal(await request(host, given), 'temporarily_unavailable', what)
      t.strictSame(await cluster.executed(), executed, `${what}: no command is executed twice`)
      t.match(host.events.at(-1), { type: 'store_unavailable' }, `${what}: no replay is reported`)
      await readyAgain(t, host)
    }
    await recovered(t, host)
  })
}
