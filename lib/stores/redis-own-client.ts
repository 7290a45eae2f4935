import { Redis } from 'ioredis'
import type { Cluster, RedisOptions } from 'ioredis'
import { isRedisClient, redisUrl } from './redis-client.ts'
import type { RedisOption } from './redis-client.ts'
import { clearTimeout, setTimeout } from '../time-limit.ts'

/**
 * A client of the plugin's own, to the servers that the URL, the options or the client of the host name. It connects at
 * once and reconnects for ever. `patience` is the number of milliseconds that each step of connecting may take. A
 * single node is connected to by `connector`.
 */
export function ownClient (redis: RedisOption, patience: number, connector: RedisOptions['Connector']) {
  const client = duplicate(templateOf(redis), patience, connector)
  let timer: NodeJS.Timeout | undefined
  // A server may accept the connection and then say nothing.
  client.on('connect', () => {
    clearTimeout(timer)
    timer = setTimeout(() => { if (client.status === 'connect') client.disconnect(true) }, patience).unref()
  })
  return client
}

/** The host's client, or one that never connects. */
function templateOf (redis: RedisOption) {
  if (typeof redis === 'string') return new Redis(redisUrl(redis) as string, { lazyConnect: true })
  return isRedisClient(redis) ? redis as Redis | Cluster : new Redis({ ...redis as object, lazyConnect: true })
}

/** Nothing is kept to be sent later, nothing is sent twice, and no connection is given up for good. */
function duplicate (template: Redis | Cluster, patience: number, connector: RedisOptions['Connector']) {
  const options = {
    enableOfflineQueue: false,
    // With more, ioredis would send the commands of a lost connection again.
    maxRetriesPerRequest: 0,
    // It holds commands back while others have no reply.
    enableAutoPipelining: false,
    commandTimeout: undefined,
    socketTimeout: undefined,
    connectTimeout: patience,
    disconnectTimeout: 0,
    retryStrategy: retryDelay,
    // A master that became a replica is left: Sentinel may know another by now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    sentinelRetryStrategy: retryDelay,
    sentinelCommandTimeout: patience,
    // Nothing of RESP3 is used, and some proxies refuse its HELLO.
    protocol: 2,
    replyMapping: 'legacy'
  } as const
  if (!isCluster(template)) {
    const { sentinels, Connector = sentinels ? undefined : connector } = template.options
    return template.duplicate({ ...options, Connector, lazyConnect: false, monitor: false })
  }
  return template.duplicate([], {
    ...options,
    redisOptions: { ...template.options.redisOptions as object, ...options },
    lazyConnect: false,
    clusterRetryStrategy: retryDelay,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnMoved: 0
  })
}

/** Milliseconds. */
function retryDelay (attempts: number): number {
  return Math.min(attempts * 50, 500)
}

export function isCluster (client: Redis | Cluster): client is Cluster {
  return 'nodes' in client
}
