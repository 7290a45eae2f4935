import { Command } from 'ioredis'
import { type Socket } from 'node:net'
import { type Pending } from '../deadline.ts'

// Sent in place of a command that must not be sent any more: ioredis expects one reply for whatever it writes.
const HARMLESS = '*1\r\n$4\r\nPING\r\n'

/**
 * A Redis command that is executed once at most. ioredis keeps commands through a reconnection or failover and sends
 * them again, some after their caller has given up. For a redemption both are wrong: a code whose caller was told 503
 * must stay good, and one that was taken by a lost reply must not read as unknown. So once the time is over, or when
 * it is about to leave a second time though the first may have been executed, something harmless leaves instead.
 */
export class RedisCommand extends Command implements Pending {
  #mayLeave = true

  constructor (name: string, args: string[]) {
    super(name, args, { replyEncoding: 'utf8' })
  }

  /** Gives up: what has not left yet never will. */
  expire (): void {
    this.#mayLeave = false
    this.reject(new Error('Redis did not answer in time'))
  }

  override toWritable (socket: object): string | Buffer {
    gather(socket as Socket)
    if (!this.#mayLeave) {
      this.reject(new Error('The connection to Redis was lost before the answer came'))
      return HARMLESS
    }
    this.#mayLeave = false
    this.#noticeRefusal()
    return super.toWritable(socket)
  }

  /** What Redis answered with an error it has not executed: after MOVED or ASK, say, it may leave for the right node. */
  #noticeRefusal (): void {
    const reject = this.reject
    this.reject = (error) => {
      this.#mayLeave = error.name === 'ReplyError'
      reject(error)
    }
  }
}

/** Lets all that is written to a socket in one turn of the event loop leave in one system call. */
function gather (socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}
