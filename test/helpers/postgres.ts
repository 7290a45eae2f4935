import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import { freePort } from './ports.ts'
import { until } from './until.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** Debian's package puts its programs here, and not on PATH. */
const DEBIAN = '/usr/lib/postgresql'
const installed = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : []
const PATH = [process.env.PATH, ...installed.sort().reverse()].join(delimiter)

/** PostgreSQL refuses to run as root: then `nobody` runs it. */
const NOBODY = 65_534
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Starts a real PostgreSQL for one test, on a free port of 127.0.0.1, in a folder that is removed after it. */
export async function startPostgres (t: Teardown) {
  const directory = await mkdtemp(join(tmpdir(), 'partner-sso-postgres-'))
  await chown(directory, user.uid ?? -1, user.gid ?? -1)
  const options = { ...user, cwd: directory, env: { ...process.env, PATH, PGDATA: 'data' } }
  // A name for the user is needed, and a locale that every system has.
  const settings = ['-U', 'sso', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']
  await promisify(execFile)('initdb', settings, options)
  const port = await freePort()
  const url = `postgres://sso@127.0.0.1:${port}/postgres`
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 60_000, max: 40 })
  pool.on('error', () => {})
  let server: ChildProcess
  t.teardown(async () => {
    await pool.end()
    if (server.exitCode === null) await stop()
    await rm(directory, { recursive: true, force: true })
  })
  const start = async (): Promise<void> => {
    // The shell ends the server when its input ends: with this process, whatever ends that.
    const command = `postgres -p ${port} -h 127.0.0.1 -k "" -F -N 50 & cat; kill -QUIT $!; wait`
    server = spawn('sh', ['-c', command], { ...options, stdio: ['pipe', 'ignore', 'ignore'] })
    await until(() => pool.query('SELECT 1').then(() => true, () => false))
  }
  /** Stops the server at once, as a crash would; `start` starts it again, with its data. */
  const stop = async (): Promise<void> => {
    server.stdin?.end()
    await once(server, 'close')
  }
  await start()
  return { url, pool, stop, start }
}
