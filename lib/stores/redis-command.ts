import { Command } from 'ioredis'
import { type Socket } from 'node:net'
import { type RedisClient } from './redis-client.ts'
import { atDeadline, clearTimeout, isPast, setImmediate, setTimeout } from './time-limit.ts'

// Sent in place of a command that must not be sent any more: ioredis expects one answer for whatever it writes.
const PING = '*1\r\n$4\r\nPING\r\n'

// How many commands on each connection have no answer although their callers have given up.
const unanswered = new WeakMap<Socket, number>()

export type OnLateAnswer = (answer: unknown) => void

export interface CommandOptions {
  /** A time of `performance.now()`. */
  deadline: number
  /** Milliseconds after the deadline when a connection that has not answered is closed. None: never. */
  giveUpAfter?: number | undefined
  /** Called with an answer that comes after the caller has given up. */
  onLateAnswer?: OnLateAnswer | undefined
}

/**
 * - `queued`: on no connection yet, or Redis has refused it and not executed it
 * - `sent`: written to a connection, and the caller waits
 * - `unanswered`: written to a connection, and the caller has given up
 * - `done`: answered, or replaced by PING
 */
type State = 'queued' | 'sent' | 'unanswered' | 'done'

/**
 * A Redis command that is executed once at most, and not after its caller has given up.
 *
 * ioredis keeps commands through a reconnection, a failover or the move of a slot, and sends them again. For a
 * redemption both are wrong: a code whose caller was told 503 must stay good, and a code whose answer was lost must not
 * read as unknown. So ioredis is given PING in place of the command where this table says so.
 *
 * | state      | ioredis writes it                         | answer                   | deadline, connection lost |
 * |------------|-------------------------------------------|--------------------------|---------------------------|
 * | queued     | sent; PING where the connection is silent |                          | rejected                  |
 * | sent       | PING, rejected: it may have been executed | done; a refusal: queued  | unanswered, rejected      |
 * | unanswered | PING                                      | done, onLateAnswer       |                           |
 * | done       | PING                                      |                          |                           |
 *
 * A connection is silent while a command on it is unanswered. It gets no more commands until it answers: it would
 * execute all of them then.
 */
export class RedisCommand extends Command {
  readonly #options: CommandOptions
  #state: State = 'queued'
  #connection: Socket | undefined
  /** Whether ioredis is about to write it for the first time. */
  #sending = false

  constructor (name: string, args: string[], options: CommandOptions) {
    super(name, args, { replyEncoding: 'utf8' })
    this.#options = options
  }

  /** Sends it by the client. Resolves with the answer, and rejects at the deadline. */
  sendBy (client: RedisClient): Promise<unknown> {
    const timer = atDeadline(this.#options.deadline, () => this.expire())
    this.#sending = true
    try {
      client.sendCommand(this)
    } catch (error) {
      this.reject(error as Error)
    }
    this.#sending = false
    return (this.promise as Promise<unknown>).finally(() => clearTimeout(timer))
  }

  /** Gives up: what has not been sent yet never is. */
  expire (): void {
    if (!this.isSettled) this.reject(new Error('Redis did not answer in time'))
  }

  /** ioredis is about to write the command: now, once it is connected, after a redirection, or once more. */
  override toWritable (socket: object): string | Buffer {
    const connection = socket as Socket
    corkForThisTurn(connection)
    if (this.isSettled) return this.#replace()
    if (this.#state === 'sent') return this.#withdraw('The connection to Redis was lost before the answer came')
    if (isPast(this.#options.deadline)) return this.#withdraw('Redis was not connected in time')
    if ((unanswered.get(connection) ?? 0) > 0) return this.#withdraw('Redis does not answer')
    this.#connection = connection
    this.#state = 'sent'
    this.#watchAnswer()
    return super.toWritable(socket)
  }

  #replace (): string {
    this.#enter('done')
    return PING
  }

  #withdraw (cause: string): string {
    const error = new Error(cause)
    // Thrown before ioredis expects an answer, so that nothing piles up on a connection that is silent.
    if (this.#sending) throw error
    this.reject(error)
    return this.#replace()
  }

  #watchAnswer (): void {
    const { resolve, reject } = this
    this.resolve = (value) => {
      const isLate = this.#state === 'unanswered'
      this.#enter('done')
      if (isLate) this.#options.onLateAnswer?.(this.transformReply(value))
      return resolve(value)
    }
    this.reject = (error) => {
      // An error of Redis: it has not executed the command. After MOVED or ASK it may be sent to the right node.
      if (error.name === 'ReplyError') this.#enter('queued')
      else if (this.#state === 'sent') this.#enter('unanswered')
      reject(error)
    }
  }

  #enter (state: State): void {
    const change = Number(state === 'unanswered') - Number(this.#state === 'unanswered')
    this.#state = state
    if (change === 0) return
    const connection = this.#connection as Socket
    unanswered.set(connection, (unanswered.get(connection) ?? 0) + change)
    const { giveUpAfter } = this.#options
    if (change > 0 && giveUpAfter !== undefined) setTimeout(() => this.#giveUp(connection), giveUpAfter).unref()
  }

  #giveUp (connection: Socket): void {
    if (this.#state === 'unanswered') connection.destroy()
  }
}

/** Everything that is written to a socket in one turn of the event loop leaves in one system call. */
function corkForThisTurn (socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
