import type { BackingStore } from './guard.ts'
import type { RedisOption } from './redis-client.ts'
import { RedisConnection } from './redis-connection.ts'

/** In place of a value that was revoked. */
const MARK = ''

const NEEDED = 'Redis refuses a command that is needed: SET with EX and NX, SET with EX and GET, and GETDEL ' +
  '(Redis 6.2 or later, not renamed, allowed to this user)'
const CLUSTER = '"redis" is the address of one node of a Redis Cluster, which refuses the keys of the others: give ' +
  'new Cluster([…]) of ioredis'

/** The errors of Redis after which it can never serve. Others may be a passing state of the server, or of a proxy. */
const REFUSED =
  /unknown command|unsupported command|wrong number of arg|syntax error|NOPERM|no permissions|can't (?:run|access) /i

/**
 * The Redis store: one command for each operation, each on one key, so it runs on a single node, on Sentinel and on
 * Cluster alike.
 */
export function redisStore (given: RedisOption, prefix: string, storeTimeout: number) {
  const redis = new RedisConnection(given, storeTimeout)
  return {
    async put (key, value, lifetime, deadline) {
      const reply = await redis.send(['set', prefix + key, value, 'EX', String(lifetime), 'NX'], deadline)
      if (reply !== 'OK' && reply !== null) throw unexpectedReply('SET')
      return reply === 'OK'
    },

    take,

    async revoke (key, lifetime, deadline) {
      return valueOf(await redis.send(['set', prefix + key, MARK, 'EX', String(lifetime), 'GET'], deadline), 'SET')
    },

    /** Asks for keys of all parts of a Cluster: a node of two serves all of them once in a million times. */
    async start (deadline) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => take(`probe-${index}`, deadline)))
    },

    unfit (error) {
      const { name, message } = error as Error
      if (name !== 'ReplyError') return undefined
      if (message.startsWith('MOVED ')) return CLUSTER
      return REFUSED.test(message) ? NEEDED : undefined
    },

    close: () => redis.close()
  } satisfies BackingStore

  async function take (key: string, deadline: number): Promise<string | null> {
    return valueOf(await redis.send(['getdel', prefix + key], deadline), 'GETDEL')
  }
}

/** The value of a reply. */
function valueOf (reply: unknown, name: string): string | null {
  if (reply === null || reply === MARK) return null
  if (typeof reply !== 'string') throw unexpectedReply(name)
  return reply
}

/** The reply itself is not named: it may be a stored value. */
function unexpectedReply (name: string): Error {
  return new Error(`Redis sent an unexpected reply to ${name} (a proxy?)`)
}
