import { spawn } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './ports.ts'
import { clientOf, startRedis } from './redis.ts'
import { replicated } from './outages.ts'
import { until } from './until.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** Milliseconds after which a Sentinel would take a silent master for down by itself. */
const DOWN_AFTER = 3_600_000

/** A master with a replica, watched by three Sentinels. */
export async function startSentinel (t: Teardown) {
  const settings = ['--repl-diskless-sync-delay', '0']
  const master = await startRedis(t, settings)
  const replica = await startRedis(t, [...settings, '--replicaof', '127.0.0.1', String(master.port)])
  // A Sentinel asks its master for replicas at once, and then every ten seconds.
  await replicated(master)
  const start = () => startOne(t, master.port)
  const sentinels = await Promise.all([start(), start(), start()])
  const [{ client }] = sentinels
  return {
    master,
    sentinels,
    /** What a host gives as `redis`. */
    options: { sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })), name: 'sso' },
    /** Makes the replica the master. Nothing else does: a busy machine must not look like a master that is down. */
    async failOver () {
      // Refused until the Sentinel has heard of the replica lately, and given up where the machine is busy.
      await until(async () => {
        const [, port] = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'sso') as string[]
        if (Number(port) === replica.port) return true
        return await client.call('SENTINEL', 'FAILOVER', 'sso').then(() => false, () => false)
      })
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
