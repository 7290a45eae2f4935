// The partner's app in several processes: a shared Redis, and the metrics of each process on a port of its own, from
// METRICS_PORT (9100) on. From a clone, with Redis at REDIS_URL, by node:cluster (starts a portal too) or by PM2:
//
//   npm run ready && WORKERS=2 node examples/dist/workers.js
//   npm run ready
//   COOKIE_SECRET=… PORTAL_CLIENT_SECRET=… pm2 start examples/dist/workers.js -i 2 --kill-timeout 20000
//
// PM2 kills after `kill-timeout` milliseconds: it must be longer than NOTICE.
import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { partnerApp } from './partner-app.ts'
import { portal, startPortal } from './portal.ts'
import { serveMetrics } from './prometheus.ts'
import { addReadiness } from './readiness.ts'

const {
  PORT = '3000', METRICS_PORT = '9100', REDIS_URL = 'redis://localhost:6379', WORKERS = '2', NOTICE = '15000'
} = process.env

/** Keeps the workers running. The number of a worker, which PM2 sets too, stays the same when it is started again. */
function startWorkers (): void {
  // Every worker reads the sessions of the others, and knows the same secret of the portal.
  const secrets = { COOKIE_SECRET: randomBytes(32).toString('hex'), PORTAL_CLIENT_SECRET: portal.clientSecret }
  const env = { ...secrets, ...process.env }
  let stopping = false
  const start = (number: number): void => {
    cluster.fork({ ...env, NODE_APP_INSTANCE: number }).once('exit', () => { if (!stopping) start(number) })
  }
  for (let number = 0; number < Number(WORKERS); number++) start(number)
  const portalProcess = startPortal(`http://localhost:${PORT}`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      stopping = true
      portalProcess.kill()
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal)
    })
  }
}

async function serve (): Promise<void> {
  const app = await partnerApp({
    portal,
    cookieSecret: process.env.COOKIE_SECRET ?? '',
    sso: { redis: REDIS_URL },
    prepare: (app) => addReadiness(app, { notice: Number(NOTICE) })
  })
  serveMetrics(app, [portal.clientId], Number(METRICS_PORT) + Number(process.env.NODE_APP_INSTANCE))
  await app.listen({ port: Number(PORT), host: 'localhost' })
}

// Under PM2 its daemon is the primary process.
if (cluster.isPrimary) startWorkers()
else await serve()
