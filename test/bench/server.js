import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Load } from './load.js'
import { onServerCore } from './machine.js'

const program = fileURLToPath(new URL('serve.js', import.meta.url))
const WARM_UP = 5000

/** A server in a process of its own, with its load generator. */
export class Server {
  #name
  #child
  #output = ''
  load

  /** Starts the server, checks that its codes and tokens are single-use, and warms it up. */
  static async start ({ name, ...argument }, { node, redis, concurrency = 32 }) {
    const flags = ['--expose-gc', '--no-deprecation']
    const [command, args] =
      onServerCore(node.path, ...flags, program, JSON.stringify({ ...argument, redisUrl: redis.url }))
    const server = new Server(name, spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }))
    try {
      server.load = await Load.open(await server.#reply(), concurrency)
      await server.load.checkSingleUse()
      await server.load.signIn(WARM_UP)
      return server
    } catch (error) {
      await server.stop()
      throw new Error(`${name}: ${error.message}\n${server.#output}`, { cause: error })
    }
  }

  /** Starts the server and stops it after the work. */
  static async during (server, setting, work) {
    const running = await Server.start(server, setting)
    try {
      return await work(running)
    } finally {
      await running.stop()
    }
  }

  constructor (name, child) {
    this.#name = name
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => { this.#output = (this.#output + text).slice(-4000) })
    }
  }

  /** Microseconds of the server's processor time that the work takes. */
  async cost (work) {
    const before = await this.#ask('cpu')
    await work()
    return await this.#ask('cpu') - before
  }

  memory () {
    return this.#ask('memory')
  }

  async stop () {
    this.load?.close()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  #ask (question) {
    this.#child.send(question)
    return this.#reply()
  }

  /** The next message of the process. Rejects when the process ends first. */
  async #reply () {
    const done = new AbortController()
    const { signal } = done
    const ended = once(this.#child, 'exit', { signal }).then(([code]) => {
      throw new Error(`The server ${this.#name} ended (${code})`)
    })
    const [reply] = await Promise.race([once(this.#child, 'message', { signal }), ended])
    done.abort()
    ended.catch(() => {})
    return reply
  }
}
