import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Pool } from 'pg'
import { freePort } from './ports.ts'

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
  const run = async (program: string, ...args: string[]) =>
    await promisify(execFile)(program, args, { ...user, cwd: directory, env: { ...process.env, PATH, PGDATA: 'data' } })
  // A name for the user is needed, and a locale that every system has.
  await run('initdb', '-U', 'sso', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N')
  const port = await freePort()
  const settings = `-p ${port} -h 127.0.0.1 -k "" -F -N 50`
  const start = () => run('pg_ctl', '-o', settings, '-l', 'log', 'start')
  /** Stops the server at once, as a crash would; `start` starts it again, with its data. */
  const stop = () => run('pg_ctl', '-m', 'immediate', 'stop')
  const url = `postgres://sso@127.0.0.1:${port}/postgres`
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 60_000, max: 40 })
  pool.on('error', () => {})
  t.teardown(async () => {
    await pool.end()
    await stop().catch(() => {})
    await rm(directory, { recursive: true, force: true })
  })
  await start()
  return { url, pool, stop, start }
}
