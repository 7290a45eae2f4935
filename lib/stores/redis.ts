import type { BackingStore } from './guard.ts'
import type { RedisOption } from './redis-client.ts'
import { RedisConnection } from './redis-connection.ts'

/** In place of a value that was revoked. */
const MARK = ''

const NEEDED = 'Redis refuses a command that is needed: SET with EX and NX, SET with EX and GET, GETDEL, and of a ' +
  'Cluster CLUSTER SLOTS (Redis 6.2 or later, not renamed, allowed to this user)'
const DATABASE = 'Redis refuses SELECT of the database that "redis" names (allow +select to this user, or name a ' +
  'database that exists)'
const CLUSTER = '"redis" is the address of one node of a Redis Cluster, which refuses the keys of the others: give ' +
  'new Cluster([…]) of ioredis'

/** The errors of Redis after which it can never serve. Others may be a passing state of the server, or of a proxy. */
const REFUSED =
  /unknown command|unsupported command|wrong number of arg|syntax error|NOPERM|no permissions|can't (?:run|access) /i
const DATABASE_REFUSED = /DB index|invalid.*index|NOPERM|no permissions|unknown command/i

/** Keys that do not exist. */
const PROBES = Array.from({ length: 1000 }, (_, index) => `probe-${index}`)

/**
 * The Redis store: one command for each operation, each on one key, so it runs on a single node, on Sentinel and on
 * Cluster alike.
 */
export class RedisStore implements BackingStore {
  readonly #redis: RedisConnection
  readonly #prefix: string

  /** `prefix` is that of each key; `storeTimeout` is a number of milliseconds. */
  constructor (redis: RedisOption, prefix: string, storeTimeout: number) {
    this.#redis = new RedisConnection(redis, storeTimeout)
    this.#prefix = prefix
  }

  async put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean> {
    const command = ['set', this.#prefix + key, value, 'EX', String(lifetime), 'NX'] as const
    const reply = await this.#redis.send(command, deadline)
    if (reply !== 'OK' && reply !== null) throw unexpectedReply('SET')
    return reply === 'OK'
  }

  async take (key: string, deadline: number): Promise<string | null> {
    return valueOf(await this.#redis.send(['getdel', this.#prefix + key], deadline), 'GETDEL')
  }

  async revoke (key: string, lifetime: number, deadline: number): Promise<string | null> {
    const command = ['set', this.#prefix + key, MARK, 'EX', String(lifetime), 'GET'] as const
    return valueOf(await this.#redis.send(command, deadline), 'SET')
  }

  /** Takes 20 keys that do not exist: one node of a Cluster of two refuses one of them, but once in a million times. */
  async start (deadline: number): Promise<void> {
    await Promise.all(PROBES.slice(0, 20).map((key) => this.take(key, deadline)))
  }

  /** Revokes a key on each master of a Cluster: each of them can be down, or out of memory. */
  async everyPart (deadline: number): Promise<void> {
    const keys = this.#redis.oneForEachMaster(this.#prefix, PROBES)
    await Promise.all(keys.map((key) => this.revoke(key, 1, deadline)))
  }

  unfit (error: unknown): string | undefined {
    const { name, message, command } = error as Error & { command?: { name: string } }
    if (name !== 'ReplyError') return undefined
    if (message.startsWith('MOVED ') || /cluster mode/.test(message)) return CLUSTER
    if (command?.name === 'select') return DATABASE_REFUSED.test(message) ? DATABASE : undefined
    return REFUSED.test(message) ? NEEDED : undefined
  }

  close (): void {
    this.#redis.close()
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
