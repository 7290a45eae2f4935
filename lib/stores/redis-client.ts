import type { RedisOptions } from 'ioredis'

/**
 * A Redis client that you already have, for the option `redis`: `Redis` or `Cluster` of ioredis 5 or 6 or of iovalkey.
 * The type names only what the plugin needs of it, so that clients of all these versions compile.
 */
export interface RedisClient {
  /** The state of its connection. Clients of other libraries have no such text. */
  readonly status: string
  /** Its options. User and password are read from them before each connection of the plugin. */
  readonly options: object
  /** Makes the client that the plugin uses, with options of the plugin. */
  duplicate (...given: any[]): unknown
}

/** What the option `redis` can be. */
export type RedisOption = string | RedisOptions | RedisClient

/** Completes the sentence "option "redis" must be …". */
export const REDIS_EXPECTED = 'a redis:// or rediss:// URL with a host and at most a number as its path, ioredis ' +
  "options, or a client of ioredis or iovalkey, which has `duplicate` (instead of a mock, give store: 'memory')"

export function isRedisOption (value: unknown): value is RedisOption {
  if (typeof value === 'string') return redisUrl(value) !== undefined
  return value != null && (isRedisClient(value) || isRedisOptions(value))
}

/** Whether the value is a client of ioredis or iovalkey. Clients of other libraries have no such `status`. */
export function isRedisClient (value: {}): value is RedisClient {
  const { status, duplicate } = value as Record<string, unknown>
  return typeof status === 'string' && typeof duplicate === 'function'
}

// Of clients, and of options of @fastify/redis and node-redis: ioredis ignores them, and connects to localhost.
const FOREIGN = ['sendCommand', 'set', 'status', 'url', 'client', 'nodes', 'socket']

/** Whether the value can be options of ioredis: a plain object, that is, no array and no object of a class. */
function isRedisOptions (value: {}): value is RedisOptions {
  const prototype = Object.getPrototypeOf(value) as object | null
  // Not compared with Object.prototype: test runners load modules into realms of their own.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null
  return isPlain && !FOREIGN.some((name) => name in value)
}

// An @ would be of a password with a # or ? that is not encoded: the host would be a part of the password.
const AFTER_HOST = /^\/?\d*(?:\?[^@#]*)?$/

/**
 * The URL as ioredis gets it, which reads it by the same parser: the scheme in lower case, no spaces around it.
 * Undefined when it is not the URL of a Redis.
 */
export function redisUrl (text: string): string | undefined {
  try {
    const { protocol, username, password, hostname, pathname, search, hash, href } = new URL(text.trim())
    // ioredis decodes them. Its own error would show the URL, and the password with it.
    decodeURIComponent(username + password)
    const isRedisUrl = /^rediss?:$/.test(protocol) && hostname !== '' && AFTER_HOST.test(pathname + search + hash)
    return isRedisUrl ? href : undefined
  } catch {
    return undefined
  }
}
