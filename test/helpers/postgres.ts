import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { freePort } from './ports.ts'

interface Teardown { teardown (stop: () => unknown): void }

const DEBIAN = '/usr/lib/postgresql'

/** The folder of initdb and postgres: on PATH, or the newest of Debian's package, which puts neither there. */
function binaries (): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one)) : []
  const onPath = process.env.PATH?.split(delimiter) ?? []
  const folders = [...onPath, ...versions.map((version) => join(DEBIAN, version, 'bin'))]
  const folder = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
  if (folder === undefined) throw new Error('PostgreSQL is needed: apt-get install postgresql')
  return folder
}

/** PostgreSQL refuses to run as root: the user it is run as instead, or none. */
function otherUser (): { uid: number, gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string, name: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout || NaN)
  const user = ['postgres', 'nobody'].find((name) => !Number.isNaN(id('-u', name))) as string
  return { uid: id('-u', user), gid: id('-g', user) }
}

export interface PostgresServer {
  url: string
  pool: Pool
  /** Stops the server at once, as a crash would. */
  stop (): Promise<void>
  /** Stops it, and starts it again with its data. */
  restart (): Promise<void>
}

/** Starts a real PostgreSQL for one test, on a free port of 127.0.0.1, in a folder that is removed after it. */
export async function startPostgres (t: Teardown): Promise<PostgresServer> {
  const [bin, user] = [binaries(), otherUser()]
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-postgres-'))
  await chmod(directory, 0o700)
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  // A name for the user is needed, and a locale that every system has.
  const flags = ['-D', directory, '-U', 'sso', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']
  const made = spawnSync(join(bin, 'initdb'), flags, { ...user, cwd: directory, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${String(made.error ?? '')}`)

  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off', max_connections: 50
  }
  const args = ['-D', directory, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const run = () => spawn(join(bin, 'postgres'), args, { ...user, cwd: directory, stdio: 'ignore' })
  let server = run()
  const url = `postgres://sso@127.0.0.1:${port}/postgres`
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 60_000, max: 40 })
  pool.on('error', () => {})
  const started = async (): Promise<void> => {
    while (!await pool.query('SELECT 1').then(() => true, () => false)) {
      if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`)
      await sleep(20)
    }
  }
  const stop = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    // SIGQUIT: immediate shutdown, with its child processes.
    server.kill('SIGQUIT')
    await ended
  }
  const restart = async (): Promise<void> => {
    await stop()
    server = run()
    await started()
  }
  t.teardown(async () => {
    await pool.end()
    await stop()
    await rm(directory, { recursive: true, force: true })
  })
  await started()
  return { url, pool, stop, restart }
}
