import type { Cluster, Redis } from 'ioredis'
import type { Socket } from 'node:net'
import type { RedisOption } from './redis-client.ts'
import { connectorTo } from './redis-connector.ts'
import { isCluster, ownClient } from './redis-own-client.ts'
import { atDeadline, clearTimeout, setImmediate, within } from '../time-limit.ts'

/** Milliseconds without a reply after which a connection is asked before it gets a command. */
const IDLE = 5000
// What ioredis says of a command that it has not sent because it was not connected.
const NOT_SENT = /enableOfflineQueue/

type Command = [name: string, ...args: string[]]

interface Call {
  command: Command
  /** A time of `performance.now()`. */
  deadline: number
  timer: NodeJS.Timeout
  resolve (reply: unknown): void
  reject (error: Error): void
}

/**
 * A connection of the plugin's own to Redis, Sentinel or Cluster. A command is sent once at most, and never after its
 * deadline: a code whose request was refused must stay valid, and a code whose reply was lost must not look unknown.
 *
 * - While there is no connection, calls wait for it here, not in ioredis, and are refused at once when the outage is
 *   older than `timeout`. An outage begins when a reply is owed, or the connection is lost.
 * - A connection that is new, or was idle, may be dead without knowing, as after the process was frozen. It is asked by
 *   PING first. When there is no reply, it is left, and the calls wait for the next one.
 * - A connection on which a call timed out is asked as well.
 */
export class RedisConnection {
  readonly #client: Redis | Cluster
  readonly #timeout: number
  /** Of the connection to a single node. */
  #socket: Socket | undefined
  /** Calls that have not been sent. */
  readonly #waiting: Call[] = []
  /** Since when a reply is owed, or there is no connection: a time of `performance.now()`. */
  #silentSince: number | undefined = performance.now()
  /** The time of day of the last reply: `performance.now()` may stand still while a computer sleeps. */
  #heardAt = 0
  #isAsking = false
  /** The last error while there is no connection. */
  #failure: Partial<NodeJS.ErrnoException> = {}
  /** The reply of a node of a Cluster, which refuses most keys: the others are not tried on this connection. */
  #moved: Error | undefined

  /** `timeout` is the number of milliseconds of `storeTimeout`. Connecting may take a second, however short that is. */
  constructor (redis: RedisOption, timeout: number) {
    this.#timeout = timeout
    this.#client = ownClient(redis, Math.max(timeout, 1000), connectorTo((socket) => { this.#socket = socket }))
    this.#client
      .on('ready', () => {
        this.#failure = {}
        this.#heardAt = 0
        this.#ask()
      })
      .on('close', () => {
        this.#silentSince ??= performance.now()
        this.#moved = undefined
      })
      // Without a listener ioredis prints each error.
      .on('error', (error: Error) => { this.#failure = error })
  }

  /**
   * Sends the command. Rejects at the deadline. The commands of a turn of the event loop leave together at its end, by
   * one system call: with 32 at once a sign-in makes 3.5 of them, and not 7. ioredis' `pipeline` costs more: V8 keeps
   * each pipeline until the next major garbage collection.
   */
  send (command: Command, deadline: number): Promise<unknown> {
    if (this.#moved !== undefined) return Promise.reject(this.#moved)
    const silentSince = this.#silentSince ?? Infinity
    if (performance.now() - silentSince > this.#timeout) return Promise.reject(this.#unavailable())
    return new Promise((resolve, reject) => {
      const timer = atDeadline(deadline, () => reject(this.#unavailable()))
      this.#waiting.push({ command, deadline, timer, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#sendWaiting())
    })
  }

  close (): void {
    this.#client.disconnect()
  }

  #sendWaiting (): void {
    if (this.#client.status !== 'ready') return
    if (Math.abs(Date.now() - this.#heardAt) > IDLE) return this.#ask()
    const calls = this.#waiting.splice(0).filter(({ deadline }) => deadline > performance.now())
    // A node of a Cluster may be silent while others reply.
    if (calls.length > 0 && !isCluster(this.#client)) this.#silentSince ??= performance.now()
    this.#socket?.cork()
    try {
      for (const call of calls) this.#sendNow(call)
    } finally {
      this.#socket?.uncork()
    }
  }

  /** Cluster follows MOVED and ASK: such a command was not executed. */
  #sendNow (call: Call): void {
    this.#client.call(...call.command).then((reply) => {
      clearTimeout(call.timer)
      this.#hear()
      call.resolve(reply)
    }, (error: Error) => this.#fail(call, error))
  }

  #fail (call: Call, error: Error): void {
    if (NOT_SENT.test(error.message)) {
      this.#waiting.push(call)
      return
    }
    clearTimeout(call.timer)
    if (!isReply(error)) return call.reject(new Error('The connection to Redis was lost before the reply came'))
    this.#hear()
    if (error.message.startsWith('MOVED ')) this.#moved = error
    call.reject(error)
  }

  #hear (): void {
    this.#heardAt = Date.now()
    this.#silentSince = undefined
  }

  /** Asks for a sign of life, soon enough to leave time for another connection. Those that give none are left. */
  #ask (): void {
    if (this.#isAsking) return
    this.#isAsking = true
    this.#silentSince ??= performance.now()
    const client = this.#client
    const nodes = isCluster(client) ? client.nodes('master') : [client]
    const alive = new Set<Redis>()
    const ask = (node: Redis) => {
      // A node of a Cluster: once it is connected, ioredis would send what waits for it, however late.
      if (node.status.startsWith('connect')) node.disconnect()
      return node.ping().then(() => alive.add(node), (error) => isReply(error) && alive.add(node))
    }
    const end = () => {
      this.#isAsking = false
      const isSilent = alive.size === 0
      // With its replicas alone a Cluster stays ready, and never connects to a master again.
      const left = isSilent && isCluster(client) ? client.nodes() : nodes
      for (const node of left) if (!alive.has(node)) node.disconnect(true)
      if (isSilent) return
      this.#hear()
      this.#sendWaiting()
    }
    within(performance.now() + this.#timeout / 2, () => Promise.all(nodes.map(ask)), Error).then(end, end)
  }

  /** Why a call is refused. A connection that is silent is asked. */
  #unavailable (): Error {
    const { status } = this.#client
    if (status === 'ready') {
      this.#ask()
      return new Error('Redis did not respond in time')
    }
    const { message, code } = this.#failure
    return new Error(`Redis is not connected (${status}): ${message || code || 'no reply'}`)
  }
}

/** Whether it is an error that Redis replied with: it has not executed the command. */
function isReply (error: Error): boolean {
  return error.name === 'ReplyError'
}
