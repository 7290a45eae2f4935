import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import type { ClusterOptions } from 'ioredis'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'

interface Teardown { teardown (stop: () => unknown): void }

type Options = Omit<ClusterOptions, 'redisOptions'> & {
  redisOptions?: { commandTimeout?: number, socketTimeout?: number }
}

export interface Node extends RedisServer {
  id: string
}

/** A Redis Cluster of three masters, each with a replica. */
export interface RedisCluster {
  masters: Node[]
  replicas: Node[]
  /** A client of the whole. */
  connect (options?: Options): Cluster
  /** The master that serves the slot. */
  owner (slot: number): Promise<Node>
  /** Begins to move the slot: keys that are not there are asked for at the new node from now on (ASK). */
  beginMove (slot: number, to: Node): Promise<void>
  /** Moves the keys, and the slot for good (MOVED). */
  finishMove (slot: number, to: Node): Promise<void>
  /** The replica of the master takes its place, as if the others had found the master silent and elected it. */
  replace (master: Node): Promise<void>
}

const SLOTS = 16384

/** Milliseconds after which the cluster takes a silent node for failed: no busy machine is silent so long. */
const NODE_TIMEOUT = 10_000

export async function startCluster (t: Teardown): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: 6 }, async () => await startNode(t)))
  const [masters, replicas] = [nodes.slice(0, 3), nodes.slice(3)]
  await meet(masters, replicas)

  const owner = async (slot: number): Promise<Node> => {
    for (const node of nodes.filter(({ process }) => process.signalCode === null)) {
      const own = /^.*myself,master.*$/m.exec(await node.client.cluster('NODES') as string)?.[0] ?? ''
      const settled = own.split(' ').slice(8).filter((range) => !range.startsWith('['))
      const ranges = settled.map((range) => range.split('-').map(Number))
      if (ranges.some(([first = 0, last = first]) => slot >= first && slot <= last)) return node
    }
    throw new Error(`Nobody serves slot ${slot}`)
  }

  return {
    async replace (master) {
      const replica = replicas[masters.indexOf(master)] as Node
      await replica.client.cluster('FAILOVER', 'TAKEOVER')
    },
    masters,
    replicas,
    owner,
    connect (options = {}) {
      const addresses = masters.map(({ port }) => ({ host: '127.0.0.1', port }))
      const cluster = new Cluster(addresses, { clusterRetryStrategy: () => 50, ...options })
      cluster.on('error', () => {})
      t.teardown(() => cluster.disconnect())
      return cluster
    },
    async beginMove (slot, to) {
      const from = await owner(slot)
      await to.client.cluster('SETSLOT', slot, 'IMPORTING', from.id)
      await from.client.cluster('SETSLOT', slot, 'MIGRATING', to.id)
    },
    async finishMove (slot, to) {
      const from = await owner(slot)
      const keys = await from.client.cluster('GETKEYSINSLOT', slot, 10_000) as string[]
      if (keys.length > 0) await from.client.migrate('127.0.0.1', to.port, '', 0, 60_000, 'KEYS', ...keys)
      for (const node of [to, from, ...masters]) {
        if (node.process.signalCode === null) await node.client.cluster('SETSLOT', slot, 'NODE', to.id)
      }
    }
  }
}

async function startNode (t: Teardown): Promise<Node> {
  const server = await startRedis(t, [
    '--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT),
    '--cluster-replica-no-failover', 'yes', '--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'
  ])
  return { ...server, id: await server.client.cluster('MYID') as string }
}

/** Waits until each of them says so, as often as `count`. */
async function all (nodes: Node[], section: 'INFO' | 'NODES', pattern: RegExp, count = 1): Promise<void> {
  for (const { client } of nodes) {
    const found = async () => (await client.cluster(section as 'INFO') as string).match(pattern) ?? []
    while ((await found()).length < count) await sleep(20)
  }
}

async function meet (masters: Node[], replicas: Node[]): Promise<void> {
  const nodes = [...masters, ...replicas]
  for (const [index, node] of nodes.entries()) await node.client.cluster('SET-CONFIG-EPOCH', index + 1)
  for (const [index, master] of masters.entries()) {
    const [first, next] = [index, index + 1].map((third) => Math.ceil(third * SLOTS / 3)) as [number, number]
    await master.client.call('CLUSTER', 'ADDSLOTSRANGE', first, next - 1)
  }
  for (const { port } of nodes.slice(1)) await nodes[0]?.client.call('CLUSTER', 'MEET', '127.0.0.1', port)
  await all(nodes, 'NODES', /connected$|connected \d/gm, 6)
  for (const [index, replica] of replicas.entries()) {
    await replica.client.cluster('REPLICATE', (masters[index] as Node).id)
  }
  await all(nodes, 'INFO', /^cluster_state:ok/gm)
  await all(nodes, 'NODES', /\bslave\b/g, 3)
  for (const { client } of replicas) {
    while (!(await client.info('replication')).includes('master_link_status:up')) await sleep(20)
  }
}
