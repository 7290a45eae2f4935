import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Load } from './load.js'
import { onServerCore } from './machine.js'
import { serverNamed } from './servers.js'

const program = fileURLToPath(new URL('serve.js', import.meta.url))
const WARM_UP = 5000

/** A server in a process of its own, with its load generator. Whatever fails ends this process, and all with it. */
export class Server {
  #child
  load

  /** Starts the server, checks that its codes and tokens are single-use, and warms it up. */
  static async start (name, { node, redis, concurrency = 32 }) {
    const argument = JSON.stringify({ ...serverNamed(name), redisUrl: redis.url })
    const [command, args] = onServerCore(node.path, '--expose-gc', '--no-deprecation', program, argument)
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    child.on('exit', () => { throw new Error(`The server ${name} ended`) })
    const [port] = await once(child, 'message')
    const load = await Load.open(port, concurrency)
    await load.checkSingleUse()
    await load.signIn(WARM_UP)
    return new Server(child, load)
  }

  /** Starts the server and stops it after the work. */
  static async during (name, setting, work) {
    const running = await Server.start(name, setting)
    const result = await work(running)
    await running.stop()
    return result
  }

  constructor (child, load) {
    this.#child = child
    this.load = load
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
    this.load.close()
    this.#child.removeAllListeners('exit')
    this.#child.kill()
    await once(this.#child, 'exit')
  }

  async #ask (question) {
    this.#child.send(question)
    const [reply] = await once(this.#child, 'message')
    return reply
  }
}
