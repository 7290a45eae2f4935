import { Command } from 'ioredis'
import type { Socket } from 'node:net'
import type { RedisClient } from './redis-client.ts'
import { atDeadline, clearTimeout, isPast, setImmediate, setTimeout } from '../time-limit.ts'

// Sent instead of a command that must not be sent any more: ioredis expects one reply for each command.
const PING = '*1\r\n$4\r\nPING\r\n'

// How many commands on each connection have no reply although their callers have given up.
const abandoned = new WeakMap<Socket, number>()

/**
 * - `queued`: on no connection yet, or Redis has refused it and not executed it
 * - `sent`: written to a connection, and the caller waits
 * - `abandoned`: written to a connection, and the caller has given up
 * - `done`: replied to, or replaced by PING
 */
type State = 'queued' | 'sent' | 'abandoned' | 'done'

/**
 * A Redis command that is sent once at most, and not after its caller has given up. The exception is a command that
 * Redis has refused without executing it, as with MOVED.
 *
 * ioredis keeps commands through a reconnection, a failover or the move of a slot, and sends them again. So does
 * Cluster where it is asked to reject a command whose connection was closed. For a redemption all of this is wrong: a
 * code whose caller got 503 must stay valid, and a code whose reply was lost must not look unknown. So ioredis
 * is given PING in place of the command where this table says so.
 *
 * | state     | ioredis writes it                         | reply                    | deadline, connection lost |
 * |-----------|-------------------------------------------|--------------------------|---------------------------|
 * | queued    | sent; PING where the connection is silent |                          | rejected                  |
 * | sent      | PING, rejected: it may have been executed | done; a refusal: queued  | abandoned, rejected       |
 * | abandoned | PING, rejected                            | done                     |                           |
 * | done      | PING                                      |                          |                           |
 *
 * A connection is silent while a command on it is abandoned. It gets no more commands until it replies: it would
 * execute all of them then.
 */
export class RedisCommand extends Command {
  /** A time of `performance.now()`. */
  readonly #deadline: number
  /** Milliseconds after the deadline when a connection that has not replied is closed. None: never. */
  readonly #giveUpAfter: number | undefined
  /** Resolves with the reply, or rejects with the reason why none came. */
  readonly outcome: Promise<unknown>
  #state: State = 'queued'
  #connection: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether ioredis is about to write it for the first time. */
  #sending = false

  constructor (name: string, args: string[], deadline: number, giveUpAfter?: number) {
    super(name, args, { replyEncoding: 'utf8' })
    this.#deadline = deadline
    this.#giveUpAfter = giveUpAfter
    this.outcome = this.promise as Promise<unknown>
    // What `sendCommand` returns. A wrapper that the host or its APM agent puts round the method returns a promise of
    // its own, which ioredis drops when it sends a command again: unhandled, its rejection would end the process.
    this.promise = this.outcome.catch(() => {})
    const { resolve, reject } = this
    this.resolve = (value) => {
      clearTimeout(this.#timer)
      return resolve(value)
    }
    this.reject = (error) => {
      clearTimeout(this.#timer)
      reject(error)
    }
  }

  /** Sends it by the client. Resolves with the reply, and rejects at the deadline. */
  sendBy (client: RedisClient): Promise<unknown> {
    this.#timer = atDeadline(this.#deadline, () => this.expire())
    this.#sending = true
    try {
      const sent = client.sendCommand(this)
      // The wrapper itself may fail.
      if (sent !== this.promise) Promise.resolve(sent).catch((error) => this.#fail(error))
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#sending = false
    return this.outcome
  }

  /** Gives up: what has not been sent yet never is. */
  expire (): void {
    this.#fail(new Error(`Redis did not respond in time${addressOf(this.#connection)}`))
  }

  /** ioredis is about to write the command: now, once it is connected, after a redirection, or once more. */
  override toWritable (socket: object): string | Buffer {
    const connection = socket as Socket
    corkForThisTurn(connection)
    if (this.isSettled) return this.#replace()
    if (this.#state !== 'queued') return this.#withdraw('The connection to Redis was lost before the reply came')
    if (isPast(this.#deadline)) return this.#withdraw('Redis was not connected in time')
    const isSilent = (abandoned.get(connection) ?? 0) > 0
    if (isSilent) return this.#withdraw(`Redis does not respond${addressOf(connection)}`)
    this.#connection = connection
    this.#state = 'sent'
    this.#watchReply()
    return super.toWritable(socket)
  }

  /** Wraps what ioredis calls with the reply: a Cluster has put its own `reject` there, to redirect the command. */
  #watchReply (): void {
    const { resolve, reject } = this
    this.resolve = (value) => {
      this.#enter('done')
      return resolve(value)
    }
    this.reject = (error) => {
      // An error of Redis: it has not executed the command. After MOVED or ASK it may be sent to the right node.
      if (error.name === 'ReplyError') this.#enter('queued')
      else if (this.#state === 'sent') this.#enter('abandoned')
      reject(error)
    }
  }

  #fail (error: Error): void {
    if (!this.isSettled) this.reject(error)
  }

  #replace (): string {
    this.#enter('done')
    return PING
  }

  #withdraw (cause: string): string {
    const error = new Error(cause)
    this.reject(error)
    // Thrown before ioredis expects a reply, so that nothing piles up on a connection that is silent.
    if (this.#sending) throw error
    return this.#replace()
  }

  #enter (state: State): void {
    const change = Number(state === 'abandoned') - Number(this.#state === 'abandoned')
    this.#state = state
    if (change === 0) return
    const connection = this.#connection as Socket
    abandoned.set(connection, (abandoned.get(connection) ?? 0) + change)
    if (change > 0 && this.#giveUpAfter !== undefined) {
      setTimeout(() => this.#giveUp(connection), this.#giveUpAfter).unref()
    }
  }

  #giveUp (connection: Socket): void {
    if (this.#state === 'abandoned') connection.destroy()
  }
}

/** The server at the other end, for a message; '' where it has no port, or the connection is closed. */
function addressOf (connection: Socket | undefined): string {
  const { remoteAddress, remotePort } = connection ?? {}
  return remoteAddress === undefined ? '' : ` (${remoteAddress}:${remotePort})`
}

/** Everything that is written to a socket in one turn of the event loop leaves in one system call. */
function corkForThisTurn (socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
