import { Redis, type RedisOptions } from 'ioredis'
import { isRedisClient, type RedisClient } from './redis-client.ts'
import { atDeadline, clearTimeout, setTimeout } from './time-limit.ts'

// What Redis says to a wrong user or password, and to none.
const REFUSED = /^(?:WRONGPASS|NOAUTH)/

export interface Connection {
  client: RedisClient
  /** Why it is not connected, as far as that is known: to be added to a sentence. */
  trouble (): string
  /** Milliseconds after which a connection that does not answer is given up; none for a client of the host's own. */
  giveUpAfter?: number
  /** Closes what was opened here. */
  close (): void
}

/** Called once when Redis refuses the user or password, and again only after it has accepted them. */
export type OnRefused = (cause: string) => void

/** The client that the option names. One that the host passed in is neither reconfigured nor closed. */
export function openConnection (
  redis: string | RedisOptions | RedisClient,
  milliseconds: number,
  onRefused: OnRefused
): Connection {
  if (isRedisClient(redis)) return { client: redis, trouble: () => '', close () {} }
  // A call times out after the milliseconds, the connection after twice that.
  const client = connect(redis, 2 * milliseconds)
  let trouble = ''
  // Without a listener ioredis prints each error.
  client.on('error', (error: NodeJS.ErrnoException) => {
    const cause = error.message || String(error.code)
    if (REFUSED.test(cause) && !REFUSED.test(trouble)) onRefused(cause)
    trouble = cause
  })
  client.on('ready', () => { trouble = '' })
  return {
    client,
    trouble: () => trouble && `: ${trouble}`,
    giveUpAfter: milliseconds,
    close: () => client.disconnect()
  }
}

/** Resolves when the client is ready or has failed to connect, or at the deadline. */
export async function whenReady (client: RedisClient, deadline: number): Promise<void> {
  if (client.status === 'ready') return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      client.removeListener('ready', done)
      client.removeListener('error', done)
      resolve()
    }
    const timer = atDeadline(deadline, done)
    client.on('ready', done)
    client.on('error', done)
    // A client made with lazyConnect waits for its first command.
    if (client.status === 'wait') client.connect().catch(() => {})
  })
}

// The mapping of replies changes the client's type, and makes no difference to these commands.
type OwnOptions = Omit<RedisOptions, 'replyMapping'>

/** A client of the plugin's own: connects at once, reconnects soon, and leaves a server that cannot serve any more. */
function connect (target: string | RedisOptions, unresponsiveAfter: number): Redis {
  const defaults: OwnOptions = {
    // RESP2: nothing of RESP3 is used, and some proxies refuse its HELLO.
    protocol: 2,
    retryStrategy: (times) => Math.min(times * 50, 500),
    connectTimeout: Math.max(unresponsiveAfter, 1000),
    // A master that became a replica is left: Sentinel may know another by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    sentinelCommandTimeout: unresponsiveAfter
  }
  const client = typeof target === 'string'
    ? new Redis(target, defaults)
    : new Redis({ ...defaults, ...target as OwnOptions })
  dropUnresponsive(client, unresponsiveAfter)
  return client
}

/** Leaves a server that accepts the connection and then says nothing, so that the client never becomes ready. */
function dropUnresponsive (client: Redis, milliseconds: number): void {
  let timer: NodeJS.Timeout | undefined
  const clear = (): void => clearTimeout(timer)
  client.on('connect', () => {
    clear()
    timer = setTimeout(() => client.stream.destroy(), milliseconds).unref()
  }).on('ready', clear).on('close', clear)
}
