import * as ioredis from 'ioredis'
import * as ioredis54 from 'ioredis-5.4'
import * as ioredis511 from 'ioredis-5.11'
import * as iovalkey from 'iovalkey'
import type { RedisClient } from '../../lib/index.ts'

/** What these tests use of a client, whichever library it is of. */
export type AnyClient = RedisClient & { disconnect (): void }

interface Library {
  redis (options: { port: number }): AnyClient
  cluster (nodes: Array<{ host: string, port: number }>): AnyClient
}

const retryStrategy = (): number => 20
const clusterRetryStrategy = (): number => 50

/** The libraries whose clients a host may pass in. That this compiles is part of the test. */
export const libraries: Record<string, Library> = {
  'ioredis 5.4': {
    redis: (options) => new ioredis54.Redis({ ...options, retryStrategy }),
    cluster: (nodes) => new ioredis54.Cluster(nodes, { clusterRetryStrategy })
  },
  'ioredis 5.11': {
    redis: (options) => new ioredis511.Redis({ ...options, retryStrategy }),
    cluster: (nodes) => new ioredis511.Cluster(nodes, { clusterRetryStrategy })
  },
  'ioredis 6': {
    redis: (options) => new ioredis.Redis({ ...options, retryStrategy }),
    cluster: (nodes) => new ioredis.Cluster(nodes, { clusterRetryStrategy })
  },
  iovalkey: {
    redis: (options) => new iovalkey.Redis({ ...options, retryStrategy }),
    cluster: (nodes) => new iovalkey.Cluster(nodes, { clusterRetryStrategy })
  }
}
