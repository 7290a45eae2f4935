// One process of the partner's app: the example, with /ready for the balancer and a port for its metrics.
import { partnerApp } from '../../examples/partner-app.ts'
import { serveMetrics } from '../../examples/prometheus.ts'
import { addReadiness } from '../../examples/readiness.ts'

const { port, metricsPort, redis, portal } = JSON.parse(process.argv[2] as string)
const app = await partnerApp({
  portal,
  cookieSecret: 'the secret of the session cookies',
  // On a busy machine a store may take more than a second.
  sso: { redis, storeTimeout: 5000 },
  prepare: (app) => addReadiness(app, { needsStore: true, notice: 0 })
})
serveMetrics(app, [portal.clientId], metricsPort)
await app.listen({ port, host: '127.0.0.1' })
