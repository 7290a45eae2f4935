// What a host may give as `redis`: a URL, a client of its own with any settings, a client of another library, and one
// that the host has wrapped.
import * as ioredis from 'ioredis'
import * as ioredis54 from 'ioredis-5.4'
import * as ioredis511 from 'ioredis-5.11'
import * as iovalkey from 'iovalkey'
import type { RedisClient } from '../../lib/index.ts'
import { STORE_TIMEOUT } from './long-timers.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** The members of a client that these tests use, whatever its library. */
export type AnyClient = RedisClient & { disconnect (): void }

/** Disconnects the client at the end of the test. Ignores lost connections. */
export function ofTest<C extends AnyClient> (t: Teardown, client: C): C {
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** A client of the server at the port. */
export type Connect = (port: number) => AnyClient

interface Library {
  Redis: new (options: { port: number, retryStrategy: () => number }) => AnyClient
  Cluster: new (nodes: Node[], options: { clusterRetryStrategy: () => number }) => AnyClient
}

interface Node { host: string, port: number }

/** The libraries whose clients a host may pass in. That this compiles is part of the test. */
const libraries: Record<string, Library> = {
  'ioredis 5.4': ioredis54, 'ioredis 5.11': ioredis511, 'ioredis 6': ioredis, iovalkey
}

const retryStrategy = (): number => 20

/** A client of each library, and one that the host has wrapped. */
export const hostClients: Record<string, Connect> = {
  ...Object.fromEntries(
    Object.entries(libraries).map(([name, { Redis }]) => [name, (port) => new Redis({ port, retryStrategy })])
  ),
  wrapped: (port) => wrapped(new ioredis.Redis({ port, retryStrategy }))
}

/** A Cluster client of each library. */
export const clusterClients = Object.entries(libraries).map(([name, { Cluster }]) => ({
  name, connect: (nodes: Node[]): AnyClient => new Cluster(nodes, { clusterRetryStrategy: () => 50 })
}))

/** Measures each command, as APM agents do: what its `sendCommand` returns is another promise than the command's. */
function wrapped (client: AnyClient): AnyClient {
  const send = client.sendCommand as (...values: unknown[]) => unknown
  return Object.assign(client, {
    commandTime: 0,
    async sendCommand (this: AnyClient & { commandTime: number }, ...values: unknown[]) {
      const start = performance.now()
      try {
        return await send.apply(this, values)
      } finally {
        this.commandTime += performance.now() - start
      }
    }
  })
}

// One type for clients of either mapping of replies.
type Options = Omit<ioredis.RedisOptions, 'replyMapping'>

const settings: Record<string, Options> = {
  'no offline queue': { enableOfflineQueue: false },
  'endless retries': { maxRetriesPerRequest: null },
  'no retries': { maxRetriesPerRequest: 0 },
  'nothing resent': { autoResendUnfulfilledCommands: false },
  'a short commandTimeout': { commandTimeout: STORE_TIMEOUT / 3 },
  'a long commandTimeout': { commandTimeout: STORE_TIMEOUT * 3 },
  'a socketTimeout': { socketTimeout: 2 * STORE_TIMEOUT },
  'lazy connect': { lazyConnect: true },
  RESP2: { protocol: 2 },
  'RESP3 replies': { protocol: 3, replyMapping: 'resp3' } as Options,
  'auto pipelining': { enableAutoPipelining: true },
  'a key prefix': { keyPrefix: 'host:' },
  'another database': { db: 3 },
  'commands resent after any error': { reconnectOnError: () => 2 },
  'no ready check': { enableReadyCheck: false }
}

/** A client of ioredis 6 with each setting that a host may have for its own commands. */
export const clientsWithSettings: Record<string, Connect> = Object.fromEntries(
  Object.entries(settings).map(([name, options]) =>
    [name, (port) => new ioredis.Redis({ port, retryStrategy, ...options })])
)
