import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { isRedisClient } from './redis-client.ts'
import type { RedisClient } from './redis-client.ts'
import { RedisCommand } from './redis-command.ts'
import type { TimedStore } from './store.ts'
import { atDeadline, clearTimeout, setTimeout } from '../time-limit.ts'

/** In place of a value that was revoked. */
const MARK = ''

// The command is not known, its options are not, or the user may not run it.
const FOR_GOOD = new RegExp('unknown command|unsupported command|wrong number of arg|syntax error|NOPERM|' +
  "no permissions|can't run this command|can't access at least one of the keys", 'i')
const UNFIT = 'Redis refuses a command that is needed: SET with EX and NX, SET with EX and GET, and GETDEL ' +
  '(Redis 6.2 or later, not renamed, allowed to this user)'

/**
 * The Redis store: one command for each operation, each on one key, so it runs on a single node, on Sentinel and on
 * Cluster alike. Nothing is sent while the client is not connected, and nothing after the deadline.
 */
export class RedisStore implements TimedStore {
  readonly #client: RedisClient
  readonly #prefix: string
  /** Closes a client of the plugin's own; a client of the host is neither reconfigured nor closed. */
  readonly close: () => void
  /** Milliseconds after which a connection of the plugin's own that does not respond is closed. */
  readonly #giveUpAfter: number | undefined
  /** The last error of a client of the plugin's own that is not connected. */
  #failure: Error | undefined
  #connected: Promise<void> | undefined

  constructor (redis: string | RedisOptions | RedisClient, keyPrefix: string, storeTimeout: number) {
    if (isRedisClient(redis)) {
      this.#client = redis
      this.close = () => {}
    } else {
      // A call times out after storeTimeout, the connection after twice that.
      const client = ownClient(redis, 2 * storeTimeout)
      // Without a listener ioredis prints each error.
      client.on('error', (error: Error) => { this.#failure = error }).on('ready', () => { this.#failure = undefined })
      this.#client = client
      this.#giveUpAfter = storeTimeout
      this.close = () => client.disconnect()
    }
    // Commands built here bypass the prefix that the host may have set on its client.
    this.#prefix = (this.#client.options.keyPrefix ?? '') + keyPrefix
  }

  async put (key: string, value: string, lifetime: number, deadline: number): Promise<boolean> {
    const reply = await this.#send(deadline, 'set', [this.#prefix + key, value, 'EX', String(lifetime), 'NX'])
    if (reply !== 'OK' && reply !== null) throw unexpectedReply('SET')
    return reply === 'OK'
  }

  async take (key: string, deadline: number): Promise<string | null> {
    return valueOf(await this.#send(deadline, 'getdel', [this.#prefix + key]), 'GETDEL')
  }

  async revoke (key: string, lifetime: number, deadline: number): Promise<string | null> {
    const args = [this.#prefix + key, MARK, 'EX', String(lifetime), 'GET']
    return valueOf(await this.#send(deadline, 'set', args), 'SET')
  }

  /** The server refuses a command for good. Any other error may be a state of the server, or of a proxy. */
  unfit (error: unknown): string | undefined {
    const isForGood = error instanceof Error && error.name === 'ReplyError' && FOR_GOOD.test(error.message)
    return isForGood ? UNFIT : undefined
  }

  /**
   * Resolves when the first attempt to connect has succeeded or failed, or at the deadline of the first call. Later a
   * client that is not connected is unavailable at once.
   */
  connected (deadline: number): Promise<void> {
    this.#connected ??= this.#firstAttempt(deadline)
    return this.#connected
  }

  #send (deadline: number, name: string, args: string[]): Promise<unknown> {
    if (this.#client.status !== 'ready') return Promise.reject(this.#notConnected())
    return new RedisCommand(name, args, deadline, this.#giveUpAfter).sendBy(this.#client)
  }

  #notConnected (): Error {
    const { status, options } = this.#client
    const where = [status, addressOf(options)].filter(Boolean).join(', ')
    const why = whyNotConnected(status, Boolean(options.tls), this.#failure)
    return new Error(`Redis is not connected (${where})${why}`, { cause: this.#failure })
  }

  async #firstAttempt (deadline: number): Promise<void> {
    const client = this.#client
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
}

/** Of Sentinel the addresses of all Sentinels; the options of Cluster have none. */
function addressOf ({ host, port, path, sentinels }: RedisClient['options']): string | undefined {
  if (sentinels) return `Sentinel ${sentinels.map(({ host, port }) => `${host}:${port ?? 26379}`).join(' ')}`
  if (host === undefined) return undefined
  return path || `${host}:${port}`
}

function whyNotConnected (status: string, isTls: boolean, failure: Error | undefined): string {
  if (failure !== undefined) return `: ${causeOf(failure, isTls)}`
  // No error comes before the attempt to connect times out, which may be after the start.
  return isTls && status === 'connecting' ? ` (${IS_TLS_SPOKEN})` : ''
}

const IS_TLS_SPOKEN = 'rediss://: does the port speak TLS?'

/** A server without TLS refuses the handshake, or waits for the end of a line, as Redis does. */
function causeOf ({ code, message }: NodeJS.ErrnoException, isTls: boolean): string {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return `${code} (rediss:// to a port that does not speak TLS)`
  const isSilent = isTls && message === 'connect ETIMEDOUT'
  return isSilent ? `${message} (${IS_TLS_SPOKEN})` : message || String(code)
}

/** The value of a reply. Redis replies QUEUED to any command where the host has begun a transaction (MULTI). */
function valueOf (reply: unknown, name: string): string | null {
  if (reply === null || reply === MARK) return null
  if (typeof reply !== 'string' || reply === 'QUEUED') throw unexpectedReply(name)
  return reply
}

/** The reply itself is not named: it may be a stored value. */
function unexpectedReply (name: string): Error {
  return new Error(`Redis sent an unexpected reply to ${name} (a connection in MULTI, a proxy)`)
}

// The mapping of replies changes the client's type, and makes no difference to these commands.
type OwnOptions = Omit<RedisOptions, 'replyMapping'>

/** A client of the plugin's own: connects at once, reconnects soon, and leaves a server that cannot serve any more. */
function ownClient (target: string | RedisOptions, unresponsiveAfter: number): Redis {
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
