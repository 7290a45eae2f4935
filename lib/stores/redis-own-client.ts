import { Redis } from 'ioredis'
import type { Cluster, RedisOptions } from 'ioredis'
import { GrowingPause } from './growing-pause.ts'
import { isRedisClient, redisUrl } from './redis-client.ts'
import type { RedisOption } from './redis-client.ts'
import { connectorTo } from './redis-connector.ts'
import { clearTimeout, setTimeout } from '../time-limit.ts'

/** Whoever uses the client, and hears of its connection. */
export interface ClientOwner {
  /** Milliseconds that each step of connecting may take. */
  readonly patience: number
  /** Whether the client was disconnected for good. */
  isClosed (): boolean
  /** There is no connection. Returns the milliseconds until the next attempt to connect. */
  retryDelay (): number
  /** There is a connection. Nothing is known of it yet: it may have no password, and be in database 0. */
  connected (): void
  /** The connection has failed, or none could be made. */
  failed (reason?: Error): void
  /** A part has failed: a Sentinel, or a node of a Cluster. */
  note (reason: Error): void
}

/**
 * Makes a client of the plugin's own, to the servers that the URL, the options or the client of the host name. It
 * connects at once and reconnects for ever, with the user and password that are current then.
 */
export function ownClient (redis: RedisOption, owner: ClientOwner): Redis | Cluster {
  const template = templateOf(redis)
  const client = duplicate(template, owner)
  const credentials = credentialsOf(redis, template)
  if (isCluster(client)) client.on('+node', (node: Redis) => readAnew(node, credentials))
  else readAnew(client, credentials)
  client.on('ready', () => owner.connected())
  tellErrors(client, owner)
  limitHandshake(client, owner)
  reviveAfterEnd(client, owner)
  return client
}

/** The host's client, or one that never connects. */
function templateOf (redis: RedisOption): Redis | Cluster {
  if (typeof redis === 'string') return new Redis(redisUrl(redis) as string, { lazyConnect: true })
  return isRedisClient(redis) ? redis as Redis | Cluster : new Redis({ ...redis as object, lazyConnect: true })
}

/** Nothing is kept to be sent later, nothing is sent twice, and no connection is given up for good. */
function duplicate (template: Redis | Cluster, owner: ClientOwner): Redis | Cluster {
  const { patience } = owner
  const retryDelay = (): number => owner.retryDelay()
  const connector = connectorTo((reason) => owner.note(reason))
  const options = {
    enableOfflineQueue: false,
    // With more, ioredis would send the commands of a lost connection again.
    maxRetriesPerRequest: 0,
    // It holds commands back while others have no reply.
    enableAutoPipelining: false,
    // It needs INFO, which proxies do not have.
    enableReadyCheck: false,
    commandTimeout: undefined,
    // In ioredis 5, the silence of a lost connection ends the next one.
    socketTimeout: undefined,
    connectTimeout: patience,
    disconnectTimeout: 0,
    retryStrategy: retryDelay,
    reconnectOnError: leavesMaster(new GrowingPause()),
    failoverDetector: true,
    sentinelRetryStrategy: retryDelay,
    sentinelCommandTimeout: patience,
    // Nothing of RESP3 is used, and some proxies refuse its HELLO.
    protocol: 2,
    replyMapping: 'legacy'
  } as const
  if (!isCluster(template)) {
    const { sentinels, Connector = sentinels ? undefined : connector } = template.options
    // Without the client info, what we send first gets the reply "max number of clients reached".
    return template.duplicate({ ...options, Connector, disableClientInfo: true, lazyConnect: false, monitor: false })
  }
  const { redisOptions = {} } = template.options
  return template.duplicate([], {
    ...options,
    // With the client info of ioredis 6, a node that hangs does not become "ready": it gets no command.
    redisOptions: { Connector: connector, ...redisOptions, ...options, db: 0 },
    lazyConnect: false,
    clusterRetryStrategy: retryDelay,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnMoved: 0
  })
}

/** A master that takes no writes is left: Sentinel or the Cluster may have another by now. */
function leavesMaster (pause: GrowingPause): (error: Error) => boolean {
  return ({ message }) => /^(?:READONLY|NOREPLICAS) /.test(message) && pause.isOver()
}

const CREDENTIALS = ['username', 'password', 'sentinelUsername', 'sentinelPassword'] as const

/** The options of the host that have user and password. */
function credentialsOf (redis: RedisOption, template: Redis | Cluster): () => RedisOptions {
  if (isCluster(template)) return () => template.options.redisOptions ?? {}
  return () => typeof redis === 'string' || isRedisClient(redis) ? template.options : redis
}

/**
 * Has the client read user and password from the host's options, before each connection: those of a cloud live for
 * minutes. ioredis reads its own options then, which are a copy.
 */
function readAnew ({ options }: Redis, credentials: () => RedisOptions): void {
  for (const name of CREDENTIALS) {
    // Of the first time: a URL among the host's options, say.
    const { [name]: first } = options
    Object.defineProperty(options, name, { enumerable: true, get: () => credentials()[name] ?? first })
  }
}

/** Errors of ioredis itself: each follows an error of the server or of the network, which says why. */
export const OF_IOREDIS =
  /^Connection is closed|^Reached the max retries|^All sentinels are unreachable|enableOfflineQueue/

/** Tells the owner the error of the server or of the network. Without a listener ioredis prints each error. */
function tellErrors (client: Redis | Cluster, owner: ClientOwner): void {
  let sentinelErrors: string[] = []
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    const reason = error.lastNodeError ?? error
    if (sentinelErrors.length > 0) owner.failed(new Error(sentinelErrors.join('; ')))
    else owner.failed(OF_IOREDIS.test(reason.message) ? undefined : reason)
    sentinelErrors = []
  })
  client.on('sentinelError', ({ message }: Error) => sentinelErrors.push(message))
}

/** A server may accept the connection and then say nothing: it is left. */
function limitHandshake (client: Redis | Cluster, owner: ClientOwner): void {
  let timer: NodeJS.Timeout | undefined
  client.on('connect', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (client.status !== 'connect') return
      owner.note(new Error(`Redis accepted the connection and said nothing for ${owner.patience} ms`))
      client.disconnect(true)
    }, owner.patience).unref()
  })
}

/**
 * Connects again after the end of a client that nobody has closed. ioredis ends it where a Sentinel tells of a failover
 * while another is asked for the master.
 */
function reviveAfterEnd (client: Redis | Cluster, owner: ClientOwner): void {
  client.on('end', () => {
    setTimeout(() => {
      // What it rejects with has been told as an error of the client.
      if (!owner.isClosed()) client.connect().catch(() => {})
    }, owner.retryDelay()).unref()
  })
}

export function isCluster (client: Redis | Cluster): client is Cluster {
  return 'nodes' in client
}
