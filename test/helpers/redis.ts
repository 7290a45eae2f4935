import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './ports.ts'
import { endsWithUs } from './started.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** A redis-server of the tests' own, on a free port and with nothing kept on disk. */
export interface RedisServer {
  port: number
  url: string
  /** A client to look at the server with. */
  client: Redis
  process: ChildProcess
}

/** Starts a real redis-server for one test, whose SLOWLOG has all commands; `settings` are its command line. */
export async function startRedis (t: Teardown, settings: string[] = [], port?: number): Promise<RedisServer> {
  port ??= await freePort()
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-redis-'))
  const args = [
    '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', directory, '--slowlog-log-slower-than', '0',
    ...settings
  ]
  const process = spawn('redis-server', args, { stdio: 'ignore' })
  const failed = new Promise<never>((_resolve, reject) => process
    .once('error', () => reject(new Error('redis-server is needed on PATH: apt-get install redis-server')))
    .once('exit', (code) => reject(new Error(`redis-server --port ${port} ended with ${code}`))))
  const client = clientOf(t, { port, process, directory })
  await Promise.race([client.ping(), failed])
  return { port, url: `redis://127.0.0.1:${port}`, client, process }
}

/** A client of a server that has just been started. Server and folder are removed after the test. */
export function clientOf (
  t: Teardown, { port, process, directory }: { port: number, process: ChildProcess, directory: string }
): Redis {
  endsWithUs(process)
  const client = new Redis(port, { retryStrategy: () => 20, maxRetriesPerRequest: null })
  client.on('error', () => {})
  t.teardown(async () => {
    client.disconnect()
    process.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  return client
}
