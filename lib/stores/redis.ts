import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import { once } from 'node:events'
import { type Deadline } from '../deadline.ts'
import { type Store } from '../store.ts'
import { RedisCommand } from './redis-command.ts'

// Holds the place of what was revoked, followed by its lifetime; no base64 text starts with it.
const REVOKED = '!'

/**
 * The Redis store: one command for each operation, each on one key, so it runs on a single node, on Sentinel and on
 * Cluster alike. Nothing is sent while the client is not connected, and nothing later than the deadline.
 */
export function redisStore (client: Redis | Cluster, keyPrefix: string, deadline: Deadline): Store {
  // Commands built here bypass the prefix that the host may have set on its client.
  const prefix = (client.options.keyPrefix ?? '') + keyPrefix

  async function send (name: string, ...args: string[]): Promise<unknown> {
    if (client.status !== 'ready') throw new Error(`Redis is not connected (${client.status})`)
    const command = new RedisCommand(name, args)
    deadline.add(command)
    try {
      return await client.sendCommand(command)
    } finally {
      deadline.delete(command)
    }
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

/** The client that the option names, and how to let go of it: one that the host passed in stays as it is. */
export function acquire (redis: string | RedisOptions | Redis | Cluster): { client: Redis | Cluster, release: () => void } {
  if (isClient(redis)) return { client: redis, release () {} }
  const client = connect(redis)
  return { client, release: () => client.disconnect() }
}

/** Resolves when the client is ready, or when the time is over. */
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

/** A client of the plugin's own: connects at once, reconnects soon, and leaves a master that became a replica. */
function connect (target: string | RedisOptions): Redis {
  const defaults: OwnOptions = {
    retryStrategy: (times) => Math.min(times * 50, 500),
    reconnectOnError: (error) => error.message.startsWith('READONLY')
  }
  const client = typeof target === 'string' ? new Redis(target, defaults) : new Redis({ ...defaults, ...target as OwnOptions })
  // Whatever it is, the next store call meets it and reports it; without a listener ioredis prints it.
  return client.on('error', () => {})
}
