import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, Redis } from './redis.js'

const SLOTS = 16_384

/** A Redis Cluster of masters alone, with what a benchmark asks of one Redis. */
export class RedisCluster {
  #masters
  #folders
  url

  static async start (size) {
    const folders = Array.from({ length: size }, () => mkdtempSync(join(tmpdir(), 'partner-sso-bench-')))
    const masters = await Promise.all(folders.map(async (folder) =>
      Redis.start(['--cluster-enabled', 'yes', '--cluster-port', String(await freePort()), '--dir', folder])))
    for (const [index, master] of masters.entries()) {
      const [first, next] = [index, index + 1].map((part) => Math.ceil(part * SLOTS / size))
      await master.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      await master.call('CLUSTER', 'ADDSLOTSRANGE', first, next - 1)
      const [, busPort] = await master.call('CONFIG', 'GET', 'cluster-port')
      await masters[0].call('CLUSTER', 'MEET', '127.0.0.1', master.port, busPort)
    }
    const isKnown = async (master) => {
      const info = await master.call('CLUSTER', 'INFO')
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${size}`)
    }
    for (const master of masters) while (!await isKnown(master)) await sleep(50)
    return new RedisCluster(masters, folders)
  }

  constructor (masters, folders) {
    this.#masters = masters
    this.#folders = folders
    this.url = masters.map(({ url }) => url).join(',')
  }

  async reset () {
    await this.#each((master) => master.reset())
  }

  async resetCounters () {
    await this.#each((master) => master.resetCounters())
  }

  /** @returns {Promise<Array<Record<string, number>>>} calls of each master */
  commandsOfEach () {
    return this.#each((master) => master.commands())
  }

  async redirections () {
    return sum(await this.#each((master) => master.redirections()))
  }

  async cpu () {
    return sum(await this.#each((master) => master.cpu()))
  }

  async stop () {
    await this.#each((master) => master.stop())
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true })
  }

  #each (ask) {
    return Promise.all(this.#masters.map(ask))
  }
}

const sum = (values) => values.reduce((total, value) => total + value, 0)
