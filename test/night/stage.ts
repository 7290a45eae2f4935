// What a night needs: two processes of the app behind haproxy, Redis behind a proxy, PostgreSQL, Prometheus.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addIntegration, createTable } from '../../examples/portals-from-table.ts'
import type { ReadinessOptions } from '../../examples/readiness.ts'
import { users } from '../../examples/users.ts'
import type { Portal } from '../../lib/index.ts'
import { freePort } from '../helpers/ports.ts'
import { startPostgres } from '../helpers/postgres.ts'
import type { PostgresServer } from '../helpers/postgres.ts'
import { startProxy } from '../helpers/proxy.ts'
import type { Proxy } from '../helpers/proxy.ts'
import { startRedis } from '../helpers/redis.ts'
import type { RedisServer } from '../helpers/redis.ts'
import { shortened, shortenedRules } from './shortened.ts'

interface Teardown { teardown (stop: () => unknown): void }

export interface HostSettings {
  port: number
  metricsPort: number
  redis: string
  database: string
  portals: [Portal, ...Portal[]]
  readiness: ReadinessOptions
  storeTimeout: number
}

/** Between two checks of the balancer, which wants two that fail. */
const CHECK_INTERVAL = 200

/** Longer than the balancer needs to notice, on a busy machine too. */
const NOTICE = 5000

/** Longer than a busy machine makes a process wait: its store is not lost. */
const PATIENT = 30_000

/** An interval of Prometheus, the longest for which alerts.yml is meant. */
const INTERVAL = '30s'

/** Where browsers and portals reach the app: as it should be, or through a proxy that spoils something. */
export interface Entrances {
  app: string
  /** Drops the header Authorization. */
  withoutAuthorization: string
  /** Lets no request to the token endpoint through. */
  withoutToken: string
}

/** The processes of the app. */
export class Hosts {
  readonly log: Array<Record<string, unknown>> = []
  readonly #settings: HostSettings[]
  readonly #children: ChildProcess[] = []

  constructor (settings: HostSettings[]) {
    this.#settings = settings
  }

  async start (): Promise<void> {
    for (const index of this.#settings.keys()) await this.#start(index)
  }

  /**
   * Stops the processes and starts them again, one after the other, as the runbook says. The balancer asks for the
   * store, or does not; the store has so many milliseconds.
   */
  async replace ({ needsStore = false, storeTimeout = PATIENT } = {}): Promise<void> {
    for (const [index, settings] of this.#settings.entries()) {
      Object.assign(settings, { readiness: { notice: NOTICE, needsStore }, storeTimeout })
      const child = this.#children[index] as ChildProcess
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
      await this.#start(index)
    }
  }

  stop (): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  async #start (index: number): Promise<void> {
    const { REDIS_URL, ...env } = process.env
    const file = fileURLToPath(new URL('host.js', import.meta.url))
    const child = spawn(process.execPath, [file, JSON.stringify(this.#settings[index])], {
      env, stdio: ['ignore', 'pipe', 'inherit', 'ipc']
    })
    this.#children[index] = child
    let rest = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() as string
      for (const line of lines) if (line.includes('"event"')) this.log.push({ ...JSON.parse(line), process: index })
    })
    const ended = once(child, 'exit').then(() => { throw new Error('The host ended before it listened') })
    ended.catch(() => {})
    await Promise.race([once(child, 'message'), ended])
  }
}

export interface Stage {
  entrances: Entrances
  hosts: Hosts
  redis: RedisServer
  /** Before Redis. */
  network: Proxy
  /** A replica of Redis becomes the master, and the master is gone. */
  failOver (): Promise<void>
  postgres: PostgresServer
  /** The URL of Prometheus. */
  prometheus: string
}

/** Starts everything. `rules` is the text of alerts.yml. */
export async function startStage (t: Teardown, portals: [Portal, ...Portal[]], rules: string): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sso-night-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const redis = await startRedis(t)
  const network = await startProxy(t, redis.port)
  const postgres = await startPostgres(t)
  await fill(postgres, portals)
  const settings: HostSettings[] = []
  for (let index = 0; index < 2; index++) {
    settings.push({
      port: await freePort(),
      metricsPort: await freePort(),
      redis: `redis://127.0.0.1:${network.port}`,
      database: postgres.url,
      portals,
      readiness: { notice: NOTICE },
      storeTimeout: PATIENT
    })
  }
  const hosts = new Hosts(settings)
  t.teardown(() => hosts.stop())
  await hosts.start()
  const entrances = await startBalancer(t, folder, settings.map(({ port }) => port))
  const targets = settings.map(({ metricsPort }) => metricsPort)
  const prometheus = await startPrometheus(t, folder, targets, rules)
  const failOver = async (): Promise<void> => {
    const replica = await startRedis(t, ['--replicaof', '127.0.0.1', String(stage.redis.port)])
    // WAIT is for what was executed before the client's last command.
    await stage.redis.client.ping()
    await stage.redis.client.wait(1, 0)
    await replica.client.replicaof('NO', 'ONE')
    network.target = replica.port
    network.cut()
    stage.redis.process.kill('SIGKILL')
    stage.redis = replica
  }
  const stage = { entrances, hosts, redis, network, failOver, postgres, prometheus }
  return stage
}

async function fill ({ pool }: PostgresServer, portals: Portal[]): Promise<void> {
  await pool.query(createTable)
  await pool.query('CREATE TABLE people (id text PRIMARY KEY, name text NOT NULL)')
  for (const { id, name } of users) await pool.query('INSERT INTO people VALUES ($1, $2)', [id, name])
  for (const portal of portals) await addIntegration(pool, portal)
}

/** Waits until the URL responds; the program is waited for, and must not end before. */
async function responding (child: ChildProcess, url: string): Promise<void> {
  while (!await fetch(url).then(({ ok }) => ok, () => false)) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The program ends with the test. */
function run (t: Teardown, command: string, args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

async function startBalancer (t: Teardown, folder: string, ports: number[]): Promise<Entrances> {
  const [app, withoutAuthorization, withoutToken] = [await freePort(), await freePort(), await freePort()]
  const servers = ports.map((port, index) => `  server app${index} 127.0.0.1:${port}`)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, [
    'defaults',
    '  mode http',
    '  timeout connect 5s',
    '  timeout client 60s',
    '  timeout server 60s',
    'frontend app',
    `  bind 127.0.0.1:${app}`,
    '  default_backend app',
    'frontend without_authorization',
    `  bind 127.0.0.1:${withoutAuthorization}`,
    '  http-request del-header Authorization',
    '  default_backend app',
    'frontend without_token',
    `  bind 127.0.0.1:${withoutToken}`,
    '  http-request deny deny_status 403 if { path_end /oauth/token }',
    '  default_backend app',
    'backend app',
    '  balance roundrobin',
    '  option httpchk GET /ready',
    // Else a check that takes longer than the interval would have failed.
    '  timeout check 60s',
    `  default-server check inter ${CHECK_INTERVAL}ms fall 2 rise 1`,
    ...servers,
    ''
  ].join('\n'))
  const [first, ...others] = [app, withoutAuthorization, withoutToken].map((port) => `http://127.0.0.1:${port}`)
  await responding(run(t, 'haproxy', ['-db', '-q', '-f', file]), `${first}/ready`)
  return { app: first as string, withoutAuthorization: others[0] as string, withoutToken: others[1] as string }
}

/** Prometheus with the shortened rules. */
async function startPrometheus (t: Teardown, folder: string, ports: number[], rules: string): Promise<string> {
  const port = await freePort()
  const [rulesFile, file] = [join(folder, 'alerts.yml'), join(folder, 'prometheus.yml')]
  writeFileSync(rulesFile, shortenedRules(rules))
  const interval = shortened(INTERVAL)
  writeFileSync(file, JSON.stringify({
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: [rulesFile],
    scrape_configs: [{
      job_name: 'app',
      metrics_path: '/metrics',
      static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }]
    }]
  }))
  const url = `http://127.0.0.1:${port}`
  const child = run(t, 'prometheus', [
    `--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'prometheus')}`,
    `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'
  ])
  await responding(child, `${url}/-/ready`)
  return url
}

/** The rules as they are in the package. */
export const RULES = readFileSync('examples/alerts.yml', 'utf8')
