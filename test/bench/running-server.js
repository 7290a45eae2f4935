import { fork } from 'node:child_process'
import { once } from 'node:events'
import { signIn } from './load.js'

/**
 * Sign-ins of a connection in one turn. A turn is some 0.04 seconds on 32 connections: the shorter, the more alike are
 * the conditions of two servers that follow each other.
 */
const SIGN_INS = 4

/** One server in a process of its own, and the cost of a sign-in in it. */
export class RunningServer {
  #child
  #url
  #connections

  /**
   * Starts the server.
   *
   * @param setting - module below servers, and what its `start` takes
   * @param connections - over which sign-ins come
   */
  static async start (setting, connections) {
    const server = new RunningServer()
    server.#connections = connections
    const execArgv = [...process.execArgv, '--no-deprecation', '--disable-warning=PartnerSsoWarning']
    server.#child = fork(new URL('serve.js', import.meta.url), [JSON.stringify(setting)], { execArgv })
    const [port] = await once(server.#child, 'message')
    server.#url = `http://127.0.0.1:${port}`
    return server
  }

  get signInsOfTurn () {
    return SIGN_INS * this.#connections
  }

  /** One turn. Microseconds of processor time of a sign-in: `user`, `system` and their sum, `both`. */
  async turn () {
    const signIns = this.signInsOfTurn
    const before = await this.#ask('cpuUsage')
    await signIn(this.#url, this.#connections, signIns)
    const after = await this.#ask('cpuUsage')
    const user = (after.user - before.user) / signIns
    const system = (after.system - before.system) / signIns
    return { user, system, both: user + system }
  }

  /** Makes so many sign-ins. Returns what the processor did meanwhile, as V8 writes it into a `.cpuprofile`. */
  async profileOf (signIns) {
    await this.#ask('startProfile')
    for (let done = 0; done < signIns; done += this.signInsOfTurn) await this.turn()
    return await this.#ask('stopProfile')
  }

  stop () {
    this.#child.kill()
  }

  async #ask (what) {
    this.#child.send(what)
    const [reply] = await once(this.#child, 'message')
    return reply
  }
}
