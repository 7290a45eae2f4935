// What a host may give as `redis`: a URL, or a client of each library that is supported, with any settings.
import * as ioredis from 'ioredis'
import * as ioredis5 from 'ioredis-5'
import * as ioredis54 from 'ioredis-5.4'
import * as iovalkey from 'iovalkey'
import type { PartnerSsoOptions, RedisClient, Store } from '../../lib/index.ts'
import { RedisStore } from '../../lib/stores/redis.ts'
import { withTimeLimit } from './timed-store.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** Milliseconds: the longest that the option `storeTimeout` may be. */
export const STORE_TIMEOUT = 30_000

/** The members of a client that these tests use, whatever its library. */
export type AnyClient = RedisClient & {
  disconnect (): void
  on (event: 'error', listener: () => void): unknown
}

/** Disconnects the client at the end of the test. Ignores lost connections. */
export function ofTest<C extends AnyClient> (t: Teardown, client: C): C {
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** The plugin's store, for `checkStore`. */
export function storeOn (t: Teardown, redis: NonNullable<PartnerSsoOptions['redis']>, keyPrefix: string): Store {
  const store = new RedisStore(redis, keyPrefix, STORE_TIMEOUT)
  t.teardown(() => store.close())
  return withTimeLimit(store, STORE_TIMEOUT)
}

/** A library whose clients a host may pass in. */
export interface Library {
  Redis: new (options: object) => AnyClient
  Cluster: new (nodes: Node[], options?: object) => AnyClient
}

interface Node { host: string, port: number }

/** The libraries whose clients a host may pass in. That this compiles is part of the test. */
export const libraries: Record<string, Library> = {
  'ioredis 5.4': ioredis54, 'ioredis 5': ioredis5, 'ioredis 6': ioredis, iovalkey
}

/** Settings for the host's own commands, each of which would break a promise of the plugin. */
const SETTINGS = {
  maxRetriesPerRequest: null,
  commandTimeout: STORE_TIMEOUT / 3,
  socketTimeout: 2 * STORE_TIMEOUT,
  lazyConnect: true,
  protocol: 3,
  replyMapping: 'resp3',
  enableAutoPipelining: true,
  keyPrefix: 'host:',
  db: 3,
  reconnectOnError: () => 2,
  retryStrategy: () => null,
  enableReadyCheck: false
} as const

/** What makes a client of the server at the port. */
export type Connect = (port: number) => AnyClient

/** A client of each library, and one with all settings. */
export const hostClients: Record<string, Connect> = {
  ...Object.fromEntries(Object.entries(libraries).map(([name, { Redis }]) => [name, (port) => new Redis({ port })])),
  'ioredis 6 with settings': (port) => new ioredis.Redis({ ...SETTINGS as object, port })
}

/** A Cluster client of each library. */
export const clusterClients = Object.entries(libraries).map(([name, { Cluster }]) => ({
  name, connect: (nodes: Node[]): AnyClient => new Cluster(nodes)
}))
