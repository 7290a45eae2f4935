import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { freePort } from '../helpers/ports.ts'
import { clientOf, startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** A master with a replica, watched by three Sentinels. */
export interface RedisSentinel {
  master: RedisServer
  replica: RedisServer
  sentinels: Array<{ port: number, client: Redis, process: ChildProcess }>
  /** What a host gives as `redis`. */
  options: { sentinels: Array<{ host: string, port: number }>, name: string }
  /** The port of the master that the Sentinels name. */
  masterPort (): Promise<number>
  /** Makes the replica the master. Nothing else does: a busy machine must not look like a master that is down. */
  failOver (): Promise<void>
}

/** Milliseconds after which a Sentinel would take a silent master for down by itself. */
const DOWN_AFTER = 3_600_000

export async function startSentinel (t: Teardown): Promise<RedisSentinel> {
  const settings = ['--repl-diskless-sync-delay', '0']
  const master = await startRedis(t, settings)
  const replica = await startRedis(t, [...settings, '--replicaof', '127.0.0.1', String(master.port)])
  const sentinels = await Promise.all([1, 2, 3].map(async () => await startOne(t, master.port)))
  for (const { client } of sentinels) {
    const known = async () => {
      const [fields] = await client.call('SENTINEL', 'MASTERS') as [string[]]
      const field = (name: string) => fields[fields.indexOf(name) + 1]
      return field('num-slaves') === '1' && field('num-other-sentinels') === '2'
    }
    while (!await known()) await sleep(50)
  }
  while (!(await replica.client.info('replication')).includes('master_link_status:up')) await sleep(20)
  const masterPort = async (): Promise<number> => {
    const address = await sentinels[0]?.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'sso') as string[]
    return Number(address[1])
  }
  return {
    master,
    replica,
    sentinels,
    options: { sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })), name: 'sso' },
    masterPort,
    async failOver () {
      // Refused until the Sentinel has heard of the replica lately, and given up where the machine is busy.
      while (await masterPort() !== replica.port) {
        await sentinels[0]?.client.call('SENTINEL', 'FAILOVER', 'sso').catch(() => {})
        await sleep(50)
      }
    }
  }
}

async function startOne (t: Teardown, master: number) {
  const port = await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-sentinel-'))
  const file = join(directory, 'sentinel.conf')
  await writeFile(file, [
    `port ${port}`,
    `dir ${directory}`,
    `sentinel monitor sso 127.0.0.1 ${master} 2`,
    `sentinel down-after-milliseconds sso ${DOWN_AFTER}`,
    'sentinel failover-timeout sso 600000',
    ''
  ].join('\n'))
  const process = spawn('redis-sentinel', [file], { stdio: 'ignore' })
  const client = clientOf(t, { port, process, directory })
  await client.ping()
  return { port, client, process }
}
