import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Cluster } from 'ioredis'
import { startRedis } from './redis.ts'
import type { RedisServer } from './redis.ts'
import { ofTest } from './redis-clients.ts'
import { until } from './until.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** Milliseconds after which the cluster takes a silent node for failed: no busy machine is silent so long. */
const NODE_TIMEOUT = 10_000

const SETTINGS = [
  '--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT),
  '--cluster-replica-no-failover', 'yes', '--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'
]

/** A Redis Cluster of three masters, each with a replica. */
export async function startCluster (t: Teardown) {
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
