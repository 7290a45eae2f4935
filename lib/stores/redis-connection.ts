import type { Cluster, Redis } from 'ioredis'
import { oneForEachMaster } from './cluster-keys.ts'
import { Outage } from './outage.ts'
import { describe } from './outage-log.ts'
import type { RedisOption } from './redis-client.ts'
import { isCluster, OF_IOREDIS, ownClient } from './redis-own-client.ts'
import { isReplyTo, signOfLife } from './sign-of-life.ts'
import { nextTurn, within } from '../time-limit.ts'

/** Milliseconds without a reply after which a connection is asked before it gets a command. */
const IDLE = 5000
/** What ioredis says of a command that it has not sent, because the connection is being closed. */
const NOT_SENT = /enableOfflineQueue/

type Command = readonly [name: string, ...args: string[]]

/**
 * A connection of the plugin's own to Redis, Sentinel or Cluster. A command is sent once at most, and never after its
 * deadline: a code whose request was refused must stay valid, and a code whose reply was lost must not look unknown.
 *
 * A connection that is new, that was idle, or on which a call timed out may be dead without knowing, and a new one may
 * be in another database. So there is an outage from then on until something comes back: the reply to what is asked
 * first, or that to an earlier call. Calls wait for the end of the outage, or are refused at once when it is older than
 * `timeout`.
 */
export class RedisConnection {
  readonly #client: Redis | Cluster
  readonly #timeout: number
  /** Undefined while the connection can be used. */
  #outage: Outage | undefined = new Outage()
  /** The time of day of the last reply: `performance.now()` may stand still while a computer sleeps. */
  #heardAt = 0
  /** How many calls have no reply yet. */
  #owed = 0
  #isAsking = false
  #isClosed = false

  /** `timeout` is the number of milliseconds of `storeTimeout`. Connecting may take a second, however short that is. */
  constructor (redis: RedisOption, timeout: number) {
    this.#timeout = timeout
    this.#client = ownClient(redis, {
      patience: Math.max(timeout, 1000),
      isClosed: () => this.#isClosed,
      retryDelay: () => Math.min(++this.#lose().attempts * 50, 500),
      connected: () => { void this.#ask(timeout) },
      failed: (reason) => { this.#lose(reason) },
      note: (reason) => { if (this.#outage !== undefined) this.#outage.reason = reason }
    })
  }

  /** Waits until the connection can be used, then calls: one deadline for both, a time of `performance.now()`. */
  async send (command: Command, deadline: number): Promise<unknown> {
    // What has arrived is read first, such as the end of the connection while this process was frozen.
    await nextTurn()
    const isIdle = Math.abs(Date.now() - this.#heardAt) > IDLE
    if (isIdle || this.#outage !== undefined) await this.#usable(deadline)
    try {
      return await within(deadline, () => this.#call(command), () => this.#timedOut())
    } catch (error) {
      if (!NOT_SENT.test((error as Error).message)) throw error
      this.#lose()
      return await this.send(command, deadline)
    }
  }

  /** Of these keys, which get the prefix, one for each master of a Cluster. None for a single server. */
  oneForEachMaster (prefix: string, keys: string[]): string[] {
    return isCluster(this.#client) ? oneForEachMaster(this.#client, prefix, keys) : []
  }

  close (): void {
    this.#isClosed = true
    this.#client.disconnect()
  }

  /** The masters of a Cluster, or the one server. */
  get #masters (): Redis[] {
    return isCluster(this.#client) ? this.#client.nodes('master') : [this.#client]
  }

  /** Waits until the connection can be used. */
  async #usable (deadline: number): Promise<void> {
    const outage = this.#lose()
    // Where no call has a reply to come, half the time: this call can then still be served by the next connection.
    if (this.#client.status === 'ready') void this.#ask(this.#owed > 0 ? this.#timeout : this.#timeout / 2)
    if (performance.now() - outage.since > this.#timeout) throw this.#refusal(outage)
    await within(deadline, () => outage.over, () => this.#refusal(outage))
  }

  /** Cluster follows MOVED and ASK: such a command was not executed. */
  #call (command: Command): Promise<unknown> {
    this.#owed++
    return this.#client.call(...command).then((reply) => {
      this.#owed--
      this.#hear()
      return reply
    }, (error: Error) => {
      this.#owed--
      if (NOT_SENT.test(error.message)) throw error
      if (!isReplyTo(command[0], error)) {
        throw new Error(`The connection to Redis was lost before the reply came${because(this.#outage)}`)
      }
      this.#hear()
      throw error
    })
  }

  /** Why a call is refused whose reply has not come. Unless anything comes back, the connection is given up. */
  #timedOut (): Error {
    const error = new Error('Redis did not respond in time')
    this.#lose(error)
    // As soon as a node of a Cluster is connected, ioredis would send it what waits for it, however late.
    if (isCluster(this.#client)) {
      for (const master of this.#masters) if (master.status.startsWith('connect')) master.disconnect()
    }
    void this.#ask(this.#timeout)
    return error
  }

  /** Why a call is refused that has not been sent. */
  #refusal (outage: Outage): Error {
    const { reason } = outage
    const { status } = this.#client
    if (reason !== undefined && (reason.name === 'ReplyError' || status === 'ready')) return reason
    return new Error(`Redis is not connected (${status})${because(outage)}`)
  }

  /** Something came back: the connection can be used. */
  #hear (): void {
    this.#heardAt = Date.now()
    this.#outage?.end()
    this.#outage = undefined
  }

  /** The connection cannot be used, or may be dead. */
  #lose (reason?: Error): Outage {
    this.#outage ??= new Outage()
    if (reason !== undefined) this.#outage.reason = reason
    return this.#outage
  }

  /** Asks each master for a sign of life. A connection on which nothing comes back within the time is given up. */
  async #ask (milliseconds: number): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const outage = this.#lose()
    const client = this.#client
    const masters = this.#masters
    const areAlive = await Promise.all(masters.map((master) => this.#isAlive(master, outage, milliseconds)))
    this.#isAsking = false
    if (areAlive.includes(true)) {
      if (this.#outage === outage) this.#hear()
      // ioredis connects to a node of a Cluster again when a command needs it.
      for (const [index, master] of masters.entries()) if (!areAlive[index]) master.disconnect()
    } else if (this.#outage === outage && client.status === 'ready') {
      // With its replicas alone a Cluster would stay "ready", and never connect to a master again.
      client.disconnect(true)
    }
  }

  /** Whether the server gave a sign of life. If not, the outage gets the reason. */
  async #isAlive (master: Redis, outage: Outage, milliseconds: number): Promise<boolean> {
    const error = await signOfLife(master, milliseconds)
    if (error === undefined) {
      // While another master is being connected to, ioredis would refuse a command for it.
      if (this.#masters.every(({ status }) => !status.startsWith('connect'))) this.#hear()
      return true
    }
    if (isReplyTo('select', error)) outage.refuse(error)
    else if (!OF_IOREDIS.test(error.message)) outage.reason = error
    return false
  }
}

/** The end of a sentence: the reason, where it is known. */
function because (outage: Outage | undefined): string {
  return outage?.reason === undefined ? '' : `: ${describe(outage.reason)}`
}
