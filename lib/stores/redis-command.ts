import { type Cluster, Command, type Redis } from 'ioredis'
import { type Socket } from 'node:net'
import { type Pending } from './deadline.ts'

// Sent in place of a command that must not be sent any more: ioredis expects one reply for whatever it writes.
const HARMLESS = '*1\r\n$4\r\nPING\r\n'

// How many answers each connection owes whose callers have given up.
const debts = new WeakMap<Socket, number>()

/**
 * A Redis command that is executed once at most, and not after its caller has given up. ioredis keeps commands through
 * a reconnection, failover or move of a slot and sends them again. For a redemption both are wrong: a code whose caller
 * was told 503 must stay good, and one that was taken by a lost reply must not read as unknown. So what is settled, or
 * is about to leave a second time though the first may have been executed, is replaced by something harmless. And a
 * connection that owes an answer after the time was over gets no more commands until it has given that answer: it
 * would execute all of them once it comes to itself.
 */
export class RedisCommand extends Command implements Pending {
  #sending = false
  #left = false
  #connection: Socket | undefined
  #isOwed = false

  readonly #patience: number | undefined

  /** With `patience`, a connection that owes the answer for so many milliseconds more is given up. */
  constructor (name: string, args: string[], patience?: number) {
    super(name, args, { replyEncoding: 'utf8' })
    this.#patience = patience
  }

  /** Sends it by the client, and gives the answer. */
  sendBy (client: Redis | Cluster): Promise<unknown> {
    this.#sending = true
    try {
      client.sendCommand(this)
    } catch (error) {
      this.reject(error as Error)
    }
    this.#sending = false
    return this.promise as Promise<unknown>
  }

  /** Gives up: what has not left yet never will. */
  expire (): void {
    this.reject(new Error('Redis did not answer in time'))
  }

  /** ioredis is about to write the command: now, once it is connected, after a redirection, or once more. */
  override toWritable (socket: object): string | Buffer {
    const connection = socket as Socket
    gather(connection)
    if (this.isSettled) return HARMLESS
    if (this.#left) return this.#withdraw('The connection to Redis was lost before the answer came')
    if ((debts.get(connection) ?? 0) > 0) return this.#withdraw('Redis does not answer')
    this.#left = true
    this.#connection = connection
    this.#noticeAnswer()
    return super.toWritable(socket)
  }

  #withdraw (cause: string): string {
    const error = new Error(cause)
    // Thrown before ioredis expects a reply, so that nothing piles up on a connection that is silent.
    if (this.#sending) throw error
    this.reject(error)
    return HARMLESS
  }

  #noticeAnswer (): void {
    const { resolve, reject } = this
    this.resolve = (value) => {
      this.#answered()
      return resolve(value)
    }
    this.reject = (error) => {
      if (error.name === 'ReplyError') this.#answered()
      else this.#owe(true)
      reject(error)
    }
  }

  /** What Redis answered with an error it has not executed: after MOVED or ASK, say, it may leave for the right node. */
  #answered (): void {
    this.#left = false
    this.#owe(false)
  }

  #owe (owed: boolean): void {
    if (owed === this.#isOwed) return
    this.#isOwed = owed
    const connection = this.#connection as Socket
    debts.set(connection, (debts.get(connection) ?? 0) + (owed ? 1 : -1))
    if (owed && this.#patience !== undefined) setTimeout(() => this.#giveUp(connection), this.#patience).unref()
  }

  #giveUp (connection: Socket): void {
    if (this.#isOwed) connection.destroy()
  }
}

/** Lets all that is written to a socket in one turn of the event loop leave in one system call. */
function gather (socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
