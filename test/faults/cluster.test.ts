// A Redis Cluster of three masters with replicas, while slots move and while masters hang; and the address of one of
// its nodes.
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Cluster, Command } from 'ioredis'
import t from 'tap'
import { checkStore } from '../../lib/testing/index.ts'
import { runningClock } from '../clock.ts'
import { prepared } from '../helpers/prepared.ts'
import { startProxy } from './proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { clusterClients, ofTest, STORE_TIMEOUT, storeOn } from '../helpers/redis-clients.ts'
import {
  areLogged, executed, findsServer, issue, NEVER_ISSUED, readyAgain, recovered, refusedWhen, replicated, scene, signIn,
  stillGood, timedOut, unavailable, usedUp
} from './outages.ts'
import { until } from '../helpers/until.ts'

/** Milliseconds after which the cluster takes a silent node for failed: longer than a test waits (`until`). */
const NODE_TIMEOUT = 150_000

const SETTINGS = [
  '--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT),
  '--cluster-replica-no-failover', 'yes', '--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'
]

/** A Redis Cluster of three masters, each with a replica. */
async function startCluster () {
  const nodes = await Promise.all(Array.from({ length: 6 }, () => startRedis(t, SETTINGS)))
  const [masters, replicas] = [nodes.slice(0, 3), nodes.slice(3)]
  const [, , last] = masters as [RedisServer, RedisServer, RedisServer]
  const names = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const create = ['--cluster', 'create', ...names, '--cluster-replicas', '1', '--cluster-yes']
  await promisify(execFile)('redis-cli', create)
  for (const { client } of nodes) {
    await until(async () => (await client.cluster('INFO') as string).includes('cluster_state:ok'))
  }
  const addresses = masters.map(({ port }) => ({ host: '127.0.0.1', port }))

  /** The master that serves the slot, as the last one knows. */
  const owner = async (slot: number): Promise<RedisServer> => {
    const ranges = await last.client.cluster('SLOTS')
    const [, , [, port] = []] = ranges.find(([first, last]) => first <= slot && slot <= last) ?? []
    return masters.find((node) => node.port === port) as RedisServer
  }

  return {
    masters,
    addresses,
    owner,
    connect: () => ofTest(t, new Cluster(addresses)),
    /** Begins to move the slot: keys that are not there are asked for at the new node from now on (ASK). */
    async beginMove (slot: number, to: RedisServer) {
      const from = await owner(slot)
      await to.client.cluster('SETSLOT', slot, 'IMPORTING', await idOf(from))
      await from.client.cluster('SETSLOT', slot, 'MIGRATING', await idOf(to))
    },
    /** Moves the keys, and the slot for good (MOVED). */
    async finishMove (slot: number, to: RedisServer) {
      const { client } = await owner(slot)
      const keys = await client.cluster('GETKEYSINSLOT', slot, 10_000) as string[]
      if (keys.length > 0) await client.migrate('127.0.0.1', to.port, '', 0, 60_000, 'KEYS', ...keys)
      for (const node of [to, ...masters]) await node.client.cluster('SETSLOT', slot, 'NODE', await idOf(to))
    },
    /** The replica of the master takes its place, as if the others had found the master silent and elected it. */
    async replace (master: RedisServer) {
      for (const { client } of replicas) {
        const [, , port] = await client.role() as unknown[]
        if (port === master.port) await client.cluster('FAILOVER', 'TAKEOVER')
      }
    }
  }
}

const idOf = async ({ client }: RedisServer): Promise<string> => await client.cluster('MYID') as string

const cluster = await prepared(startCluster)

/** A key prefix that puts all keys in one slot, that slot, the master that serves it, and another one. */
async function oneSlot (tag: string) {
  const keyPrefix = `{${tag}}:`
  const slot = new Command('get', [keyPrefix]).getSlot() as number
  const from = await cluster.owner(slot)
  return { keyPrefix, slot, from, to: cluster.masters.find((node) => node !== from) as RedisServer }
}

/** A key prefix that puts all keys on that master. */
async function prefixOn (node: RedisServer): Promise<string> {
  for (let tag = 0; ; tag++) {
    const { keyPrefix, from } = await oneSlot(String(tag))
    if (from === node) return keyPrefix
  }
}

t.test('clients of each library: every promise of the store, and no sign-in fails', async (t) => {
  await Promise.all(clusterClients.map(async ({ name, connect }) => {
    const client = ofTest(t, connect(cluster.addresses))
    await t.resolves(checkStore(storeOn(t, client, `${name}:`)), name)
    const host = await scene(t, { redis: client, keyPrefix: `${name} host:` })
    await Promise.all([signIn(t, host), signIn(t, host)])
  }))
})

t.test('while a slot moves (ASK), and after it has (MOVED)', async (t) => {
  const { keyPrefix, slot, to } = await oneSlot('moving')
  const client = cluster.connect()
  const host = await scene(t, { redis: client, keyPrefix })
  const [asked, moved] = [await issue(host), await issue(host)]
  await to.client.slowlog('RESET')

  await cluster.beginMove(slot, to)
  await t.resolves(checkStore(storeOn(t, client, keyPrefix)), 'the store keeps its promises meanwhile')
  await signIn(t, host)
  t.ok((await executed(to)).length > 0, 'the new node was asked')
  await stillGood(t, host, asked)

  await cluster.finishMove(slot, to)
  t.equal(await cluster.owner(slot), to)
  await stillGood(t, host, moved)
  await signIn(t, host)
  t.equal(host.events.filter(({ type }) => type === 'store_unavailable').length, 0, 'nobody was refused')
})

t.test('waiting for the connection to a node that hangs: what was refused is never sent', async (t) => {
  const [node] = cluster.masters as [RedisServer]
  const keyPrefix = await prefixOn(node)
  await node.client.slowlog('RESET')
  node.process.kill('SIGSTOP')
  const clock = runningClock(t)
  const store = clock.run(() => storeOn(t, cluster.connect(), keyPrefix))
  // Connecting gets more time in each round: `advance` ends what has not been connected.
  let [refusals, pause] = [0, 50]
  await until(async () => {
    const refused = clock.run(() => store.take('a key')).catch(({ message }: Error) => message)
    await sleep(pause *= 1.5)
    await clock.advance(STORE_TIMEOUT)
    if (/in time/.test(String(await refused))) refusals++
    return refusals === 3
  })
  node.process.kill('SIGCONT')
  await until(async () => await clock.run(() => store.put('another key', 'value', 1)).catch(() => false))
  t.strictSame([...new Set(await executed(node))], ['set'], 'nothing was sent later')
})

t.test('the cluster is down: refused, and nothing is executed later', async (t) => {
  const node = await cluster.owner(0)
  const host = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(node) })
  const kept = await issue(host)
  const isDown = async () => (await node.client.cluster('INFO') as string).includes('cluster_state:fail')
  await node.client.cluster('DELSLOTS', 0)
  // A slot that nobody serves.
  await until(isDown)
  await node.client.slowlog('RESET')
  await unavailable(t, host, kept)
  await node.client.cluster('ADDSLOTS', 0)
  await until(async () => !await isDown())
  await readyAgain(t, host)
  await stillGood(t, host, kept)
  t.strictSame(await executed(node), ['getdel', 'getdel', 'set'], 'only the commands of stillGood')
  await areLogged(t, host, /CLUSTERDOWN/, 3)
})

t.test('one master takes no writes: one outage while others are served, and not ready each time', async (t) => {
  const [full] = cluster.masters as [RedisServer]
  const host = await scene(t, { redis: cluster.connect() })
  await full.client.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction')
  for (const outcome of ['error', 'code', 'error', 'code', 'error']) {
    await until(async () => (await host.portal.authorize()).redirect.has(outcome))
    t.equal(await host.ready(), false, outcome)
  }
  await full.client.config('SET', 'maxmemory', '0')
  await recovered(t, host)
  await areLogged(t, host, /^OOM /, host.events.filter(({ type }) => type === 'store_unavailable').length)
})

t.test('a master hangs for less than it takes to fail over', async (t) => {
  const [node, other] = cluster.masters as [RedisServer, RedisServer]
  const host = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(node) })
  const elsewhere = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(other) })
  const [left, kept] = [await issue(host), await issue(host)]
  await node.client.slowlog('RESET')
  node.process.kill('SIGSTOP')
  await timedOut(t, host, left, 'master stopped')
  // The node is asked, and left: what comes later waits for another connection.
  await host.advance(STORE_TIMEOUT)
  await refusedWhen(t, host, kept, undefined, 'master still stopped')
  await signIn(t, elsewhere)
  node.process.kill('SIGCONT')
  await readyAgain(t, host)
  t.strictSame(await executed(node), ['getdel', 'getdel', 'set'], 'only what was sent before')
  await stillGood(t, host, kept)
  await usedUp(t, host, left)
  await areLogged(t, host, /did not respond in time/, 6)
})

t.test('all masters hang: they are connected to anew, though the replicas are there', async (t) => {
  const [{ client }] = cluster.masters as [RedisServer]
  await until(async () => (await client.cluster('SLOTS')).every(([, , , replica]) => replica))
  const host = await scene(t, { redis: cluster.connect() })
  const issued = await issue(host)
  const before = await connectionsTo(cluster.masters)
  for (const { process } of cluster.masters) process.kill('SIGSTOP')
  await timedOut(t, host, issued)
  await host.advance(STORE_TIMEOUT)
  for (const { process } of cluster.masters) process.kill('SIGCONT')
  await readyAgain(t, host)
  t.ok(await connectionsTo(cluster.masters) > before)
})

/** How often somebody has connected to one of the servers. */
async function connectionsTo (servers: RedisServer[]): Promise<number> {
  const stats = await Promise.all(servers.map(({ client }) => client.info('stats')))
  return stats.reduce((sum, text) => sum + Number(/total_connections_received:(\d+)/.exec(text)?.[1]), 0)
}

t.test('Cluster node address: the start says so; where it was another server at the start, one outage', async (t) => {
  const [node] = cluster.masters as [RedisServer]
  await t.rejects(scene(t, { redis: node.url }), {
    message: /^partner-sso: "redis" is the address of one node of a Redis Cluster.*new Cluster\(\[…\]\).*MOVED/
  })
  const single = await startRedis(t)
  const proxy = await startProxy(t, single.port)
  const host = await scene(t, { redis: `redis://127.0.0.1:${proxy.port}` })
  proxy.target = node.port
  proxy.cut()
  // Until the first key of another node.
  await until(async () => (await host.portal.authorize()).redirect.has('error'))
  // Until a key of this node: what it serves is not refused.
  await until(async () => (await host.portal.authorize()).redirect.has('code'))
  await until(async () => (await host.portal.authorize()).redirect.has('error'))
  proxy.target = single.port
  proxy.cut()
  await recovered(t, host)
  await areLogged(t, host, /^MOVED/, host.events.filter(({ type }) => type === 'store_unavailable').length)
})

// The last one: the Cluster of this file has another master then.
t.test('a master hangs until its replica takes its place: refused, then served', async (t) => {
  const [node] = cluster.masters as [RedisServer]
  const host = await scene(t, { redis: cluster.connect(), keyPrefix: await prefixOn(node) })
  const kept = await issue(host)
  await replicated(node)
  node.process.kill('SIGSTOP')
  await timedOut(t, host, NEVER_ISSUED)
  await cluster.replace(node)
  await findsServer(t, host)
  await stillGood(t, host, kept)
  await signIn(t, host)
})
