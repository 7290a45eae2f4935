import type { RedisOptions } from 'ioredis'

/**
 * What the plugin needs of a Redis client of the host's own. `Redis` and `Cluster` of ioredis 5 and 6 and of iovalkey
 * have it.
 */
export interface RedisClient {
  readonly status: string
  readonly options: {
    readonly keyPrefix?: string | undefined
    // Named in a log line while the client is not connected.
    readonly host?: string | undefined
    readonly port?: number | undefined
    readonly path?: string | undefined
    readonly sentinels?: ReadonlyArray<{ host?: string | undefined, port?: number | undefined }> | undefined | null
    readonly tls?: unknown
  }
  sendCommand (command: any): unknown
  connect (): Promise<unknown>
  on (event: 'ready' | 'error', listener: (...values: any[]) => void): unknown
  removeListener (event: 'ready' | 'error', listener: (...values: any[]) => void): unknown
}

/** Whether the value is a client of ioredis or iovalkey. Clients of other libraries have no such `status`. */
export function isRedisClient (value: unknown): value is RedisClient {
  if (typeof value !== 'object' || value === null) return false
  const { status, options, sendCommand, connect } = value as Record<string, unknown>
  return typeof status === 'string' && typeof options === 'object' && options !== null &&
    typeof sendCommand === 'function' && typeof connect === 'function'
}

// Of clients, and of options of @fastify/redis and node-redis: ioredis ignores them, and connects to localhost.
const FOREIGN = ['sendCommand', 'status', 'url', 'client', 'nodes', 'socket']

/** Whether the value can be options of ioredis: a plain object, that is, no array and no object of a class. */
export function isRedisOptions (value: unknown): value is RedisOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (FOREIGN.some((name) => name in value)) return false
  const prototype = Object.getPrototypeOf(value) as object | null
  // Not compared with Object.prototype: test runners load modules into realms of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Whether the value is a redis:// or rediss:// URL that ioredis can read. */
export function isRedisUrl (value: unknown): value is string {
  if (typeof value !== 'string') return false
  try {
    const { protocol, username, password } = new URL(value)
    // ioredis decodes them. Its own error would show the URL, and the password with it.
    decodeURIComponent(username + password)
    return /^rediss?:$/.test(protocol)
  } catch {
    return false
  }
}
