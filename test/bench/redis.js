import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Redis as Client } from 'ioredis'
import { onOtherCore } from './machine.js'

// The shell ends Redis when its own input ends, also where this process is killed.
const SCRIPT = 'redis-server "$@" & cat; kill $!; wait'

/** A Redis of the benchmark's own: on a free port, nothing on disk. */
export class Redis {
  #process
  #client
  url

  static async start () {
    const port = await freePort()
    const settings = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--loglevel', 'warning']
    const [command, args] = onOtherCore('sh', '-c', SCRIPT, 'sh', ...settings)
    const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] })
    const client = new Client({ port, host: '127.0.0.1', retryStrategy: () => 50, maxRetriesPerRequest: 100 })
    client.on('error', () => {}) // until it is up
    await client.ping()
    return new Redis(child, client, `redis://127.0.0.1:${port}`)
  }

  constructor (child, client, url) {
    this.#process = child
    this.#client = client
    this.url = url
  }

  async version () {
    return /redis_version:(\S+)/.exec(await this.#client.info('server'))[1]
  }

  empty () {
    return this.#client.flushall('SYNC')
  }

  /** Microseconds of its processor time that the work takes. */
  async cost (work) {
    const before = await this.#cpu()
    await work()
    return await this.#cpu() - before
  }

  /** Bytes of all keys with their values. */
  async bytes () {
    const sizes = await Promise.all((await this.#client.keys('*')).map((key) => this.#client.memory('USAGE', key)))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  async stop () {
    this.#client.disconnect()
    this.#process.stdin.end()
    await once(this.#process, 'exit')
  }

  async #cpu () {
    const times = (await this.#client.info('cpu')).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)
    return [...times].reduce((sum, [, seconds]) => sum + 1e6 * Number(seconds), 0)
  }
}

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return String(port)
}
