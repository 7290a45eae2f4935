import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import { once } from 'node:events'
import { type Deadline } from './deadline.ts'
import { type Store } from './store.ts'
import { RedisCommand } from './redis-command.ts'

// Holds the place of what was revoked, followed by its lifetime; no base64 text starts with it.
const REVOKED = '!'

// What Redis says to a wrong user or password, and to none.
const REFUSED = /^(?:WRONGPASS|NOAUTH)/

export interface Connection {
  client: Redis | Cluster
  /** Why it is not connected, as far as that is known: to be added to a sentence. */
  trouble (): string
  /** Milliseconds after which a connection that owes an answer is given up; none for a client of the host's. */
  patience?: number
  /** Lets go of the client. */
  close (): void
}

/**
 * The Redis store: one command for each operation, each on one key, so it runs on a single node, on Sentinel and on
 * Cluster alike. Nothing is sent while the client is not connected, and nothing later than the deadline.
 */
export function redisStore (
  client: Redis | Cluster,
  keyPrefix: string,
  deadline: Deadline,
  { trouble = () => '', patience }: Partial<Connection> = {}
): Store {
  // Commands built here bypass the prefix that the host may have set on its client.
  const prefix = (client.options.keyPrefix ?? '') + keyPrefix

  function send (name: string, ...args: string[]): Promise<unknown> {
    if (client.status !== 'ready') return Promise.reject(new Error(`Redis is not connected (${client.status})${trouble()}`))
    const command = new RedisCommand(name, args, patience)
    deadline.add(command)
    return command.sendBy(client)
  }

  return {
    async put (key, value, lifetime) {
      return await send('set', prefix + key, value, 'EX', String(lifetime), 'NX') === 'OK'
    },

    async take (key) {
      const value = await send('getdel', prefix + key) as string | null
      if (value === null || !value.startsWith(REVOKED)) return value
      // GETDEL has removed the mark as well; it is put back for as long as it was meant to stay.
      await this.revoke(key, Number(value.slice(REVOKED.length)))
      return null
    },

    async revoke (key, lifetime) {
      await send('set', prefix + key, REVOKED + lifetime, 'EX', String(lifetime))
    }
  }
}

/** Told once when Redis refuses the user or password, and again only after it has accepted them. */
export type OnRefused = (cause: string) => void

/** The client that the option names. One that the host passed in stays as it is. */
export function openConnection (redis: string | RedisOptions | Redis | Cluster, milliseconds: number, onRefused: OnRefused): Connection {
  if (isClient(redis)) return { client: redis, trouble: () => '', close () {} }
  // A call gives up after the milliseconds, the connection with it after as many more.
  const client = connect(redis, 2 * milliseconds)
  let trouble = ''
  // Without a listener ioredis prints each error.
  client.on('error', (error: NodeJS.ErrnoException) => {
    const cause = error.message || String(error.code)
    if (REFUSED.test(cause) && !REFUSED.test(trouble)) onRefused(cause)
    trouble = cause
  })
  client.on('ready', () => { trouble = '' })
  return { client, trouble: () => trouble && `: ${trouble}`, patience: milliseconds, close: () => client.disconnect() }
}

/** Resolves when the client is ready or has failed to connect, or when the time is over. */
export async function whenReady (client: Redis | Cluster, milliseconds: number): Promise<void> {
  if (client.status === 'ready') return
  // A client made with lazyConnect waits for its first command.
  if (client.status === 'wait') client.connect().catch(() => {})
  await once(client, 'ready', { signal: AbortSignal.timeout(milliseconds) }).catch(() => {})
}

function isClient (redis: string | RedisOptions | Redis | Cluster): redis is Redis | Cluster {
  return typeof redis === 'object' && 'sendCommand' in redis && 'status' in redis
}

// The mapping of replies changes the client's type, and makes no difference to these commands.
type OwnOptions = Omit<RedisOptions, 'replyMapping'>

/** A client of the plugin's own: connects at once, reconnects soon, and leaves a server that is of no use any more. */
function connect (target: string | RedisOptions, patience: number): Redis {
  const defaults: OwnOptions = {
    retryStrategy: (times) => Math.min(times * 50, 500),
    connectTimeout: Math.max(patience, 1000),
    // A master that became a replica is left: Sentinel may know another by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    sentinelCommandTimeout: patience
  }
  const client = typeof target === 'string' ? new Redis(target, defaults) : new Redis({ ...defaults, ...target as OwnOptions })
  leaveSilent(client, patience)
  return client
}

/** Leaves a server that takes the connection and then says nothing, so that the client never becomes ready. */
function leaveSilent (client: Redis, patience: number): void {
  let timer: NodeJS.Timeout | undefined
  const clear = () => clearTimeout(timer)
  client.on('connect', () => {
    clear()
    timer = setTimeout(() => client.stream.destroy(), patience).unref()
  }).on('ready', clear).on('close', clear)
}
