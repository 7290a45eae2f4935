// Redis hangs behind two processes of the app, of which one has no traffic; haproxy takes both out. A real Prometheus
// with the rules of examples/alerts.yml sees it, by scrapes that end. Two minutes: not part of `npm test`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { portal } from '../../lib/testing/index.ts'
import { PORTAL } from '../helpers/host.ts'
import { freePort } from '../helpers/ports.ts'
import { startRedis } from '../helpers/redis.ts'
import { started } from '../helpers/started.ts'

/** Seconds between two scrapes. A scrape may take as long: `storeTimeout` is shorter. */
const INTERVAL = 10

const folder = mkdtempSync(join(tmpdir(), 'partner-sso-night-'))
t.teardown(() => rmSync(folder, { recursive: true }))

/** Waits until the condition holds; tap's time limit ends a wait that has no end. */
async function until (condition: () => Promise<boolean>): Promise<void> {
  while (!await condition()) await sleep(200)
}

const statusOf = async (url: string): Promise<number> => await fetch(url).then(({ status }) => status, () => 0)

/** Starts a program, and waits until the URL responds. */
async function start (command: string[], url: string): Promise<void> {
  const { child, output } = started(t, command)
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended:\n${output.err}`)
    return await statusOf(url) === 200
  })
}

async function startHost (redis: string): Promise<{ port: number, metricsPort: number }> {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const settings = JSON.stringify({ port, metricsPort, redis, portal: PORTAL })
  const program = fileURLToPath(new URL('host.js', import.meta.url))
  await start([process.execPath, program, settings], `http://127.0.0.1:${port}/ready`)
  return { port, metricsPort }
}

/** haproxy, which sends requests to the first process while that is ready. Returns its URL. */
async function startBalancer (first: number, second: number): Promise<string> {
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 30s
listen app
  bind 127.0.0.1:${port}
  option httpchk GET /ready
  default-server check inter 200ms fall 2 rise 1
  server first 127.0.0.1:${first}
  server second 127.0.0.1:${second} backup
`)
  const url = `http://127.0.0.1:${port}`
  await start(['haproxy', '-db', '-q', '-f', file], `${url}/ready`)
  return url
}

/** A real Prometheus with the rules as they are in the package. Returns a function that asks it. */
async function startPrometheus (ports: number[]): Promise<(query: string) => Promise<string[]>> {
  const port = await freePort()
  const file = join(folder, 'prometheus.yml')
  const interval = `${INTERVAL}s`
  writeFileSync(file, JSON.stringify({
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: [resolve('examples/alerts.yml')],
    scrape_configs: [{ job_name: 'app', static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }] }]
  }))
  const url = `http://127.0.0.1:${port}`
  await start([
    'prometheus', `--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'
  ], `${url}/-/ready`)
  return async (query) => {
    const { data } = await (await fetch(`${url}/api/v1/query?${new URLSearchParams({ query })}`)).json()
    const series = data.result as Array<{ metric: { alertname?: string }, value: [number, string] }>
    return series.map(({ metric, value }) => metric.alertname ?? value[1]).sort()
  }
}

t.test('Redis hangs behind a balancer', async (t) => {
  const redis = await startRedis(t)
  t.teardown(() => redis.process.kill('SIGCONT'))
  const [busy, idle] = [await startHost(redis.url), await startHost(redis.url)]
  const url = await startBalancer(busy.port, idle.port)
  const ask = await startPrometheus([busy.metricsPort, idle.metricsPort])
  const firing = async () => await ask('ALERTS{alertstate="firing"}')
  const { clientId, clientSecret, redirectUri } = PORTAL
  const double = portal({ baseUrl: url, clientId, clientSecret: String(clientSecret), redirectUri })
  const ada = { login: { user: 'u-1' } }

  await until(async () => (await ask('partner_sso_ready == 1')).length === 2)
  const issued = 'partner_sso_events_total{type="token_issued",secret_index="0",client_id!="unknown"}'
  t.strictSame(await ask(issued), ['0', '0'], 'counters begin at 0')

  const authorized = await double.authorize(ada)
  if (!authorized.ok) throw new Error(authorized.got)
  t.equal((await double.token(authorized.code)).ok, true)
  t.equal((await double.token(authorized.code)).ok, false)
  await until(async () => (await firing()).length > 0)
  t.strictSame(await firing(), ['PartnerSsoCodeReplayed'], 'the first replay is an increase')
  t.strictSame(await ask(issued), ['0', '1'], 'one process has no traffic')

  redis.process.kill('SIGSTOP')
  await until(async () => await statusOf(`${url}/login`) === 503)
  t.pass('the balancer has taken out both processes')
  await until(async () => (await ask('partner_sso_ready == 0')).length === 2)
  await until(async () => (await firing()).includes('PartnerSsoStoreUnavailable'))
  t.strictSame(await ask('min_over_time(up[1m])'), ['1', '1'], 'each scrape ended')

  redis.process.kill('SIGCONT')
  await until(async () => !(await firing()).includes('PartnerSsoStoreUnavailable'))
  await until(async () => await statusOf(`${url}/login`) === 200)
  const { ok } = await double.signIn(ada)
  t.equal(ok, true, 'people sign in again')
})
