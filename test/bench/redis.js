import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Redis as Client } from 'ioredis'
import { pinned } from './machine.js'

const keeper = fileURLToPath(new URL('redis-keeper.js', import.meta.url))

/** The benchmark's own Redis: on a free port, nothing on disk, gone with this process. */
export class Redis {
  #keeper
  #client
  port
  url

  /** @param {string[]} settings further arguments of redis-server */
  static async start (settings = []) {
    const port = await freePort()
    const [command, args] = pinned('redis', [keeper, String(port), ...settings])
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const client = new Client({ port, host: '127.0.0.1', retryStrategy: () => 50, maxRetriesPerRequest: 100 })
    client.on('error', () => {}) // until it is up
    const ended = once(child, 'exit').then(() => {
      throw new Error('redis-server ended')
    })
    await Promise.race([client.ping(), ended])
    ended.catch(() => {})
    return new Redis(child, client, port)
  }

  constructor (child, client, port) {
    this.#keeper = child
    this.#client = client
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
  }

  /** Any command. */
  call (...command) {
    return this.#client.call(...command)
  }

  async version () {
    return /redis_version:(\S+)/.exec(await this.#client.info('server'))[1]
  }

  /** Empties it and sets the command counters to zero. */
  async reset () {
    await this.#client.flushall('SYNC')
    await this.resetCounters()
  }

  resetCounters () {
    return this.#client.config('RESETSTAT')
  }

  /** @returns {Promise<Record<string, number>>} calls since the counters were reset, the benchmark's own left out */
  async commands () {
    const stats = await this.#client.info('commandstats')
    const calls = [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name, count]) => [name, Number(count)])
    return Object.fromEntries(calls.filter(([name]) => !administrative.test(name)))
  }

  /** @returns {Promise<number>} commands since the counters were reset that another node has to serve (MOVED, ASK) */
  async redirections () {
    const counts = (await this.#client.info('errorstats')).matchAll(/^errorstat_(?:MOVED|ASK):count=(\d+)/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  /** @returns {Promise<number>} microseconds of CPU so far, user and system */
  async cpu () {
    const times = (await this.#client.info('cpu')).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)
    return [...times].reduce((sum, [, seconds]) => sum + 1e6 * Number(seconds), 0)
  }

  /** @returns {Promise<number>} how often it has read from a socket since: commands that come together are one read */
  async reads () {
    return Number(/^total_reads_processed:(\d+)/m.exec(await this.#client.info('stats'))[1])
  }

  /** @returns {Promise<number>} bytes of all keys with their values, by MEMORY USAGE */
  async bytes () {
    let total = 0
    for await (const keys of this.#client.scanStream({ count: 1000 })) {
      const pipeline = this.#client.pipeline()
      for (const key of keys) pipeline.memory('USAGE', key, 'SAMPLES', 0)
      for (const [error, bytes] of await pipeline.exec()) {
        if (error) throw error
        total += bytes
      }
    }
    return total
  }

  async stop () {
    this.#client.disconnect()
    this.#keeper.removeAllListeners('exit')
    this.#keeper.disconnect()
    await once(this.#keeper, 'exit')
  }
}

const administrative = /^(info|config|memory|scan|flushall|client|hello|ping|command|select|auth|cluster|readonly)/

export async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
