// Metrics for Prometheus: the events of the plugin and the state of its store, at GET /metrics. Needs prom-client.
// Alerts on them: alerts.yml. A dashboard: grafana.json.
// From a clone, with a portal beside it: npm run ready && node examples/dist/demo.js prometheus
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { PartnerSsoEvent, RefusalReason } from 'fastify-partner-sso'
import { Counter, Gauge, Registry } from 'prom-client'

type EventType = PartnerSsoEvent['type']

/** The event that reports each refusal. The compiler asks for a reason that is missing. */
export const refusals = {
  client_id_missing: 'request_rejected',
  client_id_repeated: 'request_rejected',
  client_id_unknown: 'request_rejected',
  redirect_uri_missing: 'request_rejected',
  redirect_uri_repeated: 'request_rejected',
  redirect_uri_unregistered: 'request_rejected',
  portal_failed: 'request_rejected',
  portal_timeout: 'request_rejected',
  parameters_excessive: 'request_rejected',
  parameter_repeated: 'request_rejected',
  response_type_missing: 'request_rejected',
  response_type_unsupported: 'request_rejected',
  state_missing: 'request_rejected',
  code_challenge_malformed: 'request_rejected',
  code_challenge_method_unsupported: 'request_rejected',
  not_logged_in: 'sign_in_refused',
  not_eligible: 'sign_in_refused',
  eligibility_undefined: 'sign_in_refused',
  current_user_failed: 'sign_in_refused',
  login_page_failed: 'sign_in_refused',
  portal_eligibility_failed: 'sign_in_refused',
  user_information_invalid: 'sign_in_refused',
  body_already_read: 'request_rejected',
  content_type_unsupported: 'request_rejected',
  body_unreadable: 'request_rejected',
  credentials_in_url: 'request_rejected',
  method_not_allowed: 'request_rejected',
  grant_type_missing: 'request_rejected',
  grant_type_unsupported: 'request_rejected',
  code_missing: 'request_rejected',
  authentication_repeated: 'request_rejected',
  authentication_missing: 'client_authentication_failed',
  authentication_malformed: 'client_authentication_failed',
  client_unknown: 'client_authentication_failed',
  client_secret_wrong: 'client_authentication_failed',
  redirect_uri_mismatch: 'request_rejected',
  code_malformed: 'request_rejected',
  code_unknown: 'request_rejected',
  code_replayed: 'code_replayed',
  code_verifier_missing: 'request_rejected',
  code_verifier_unexpected: 'request_rejected',
  code_verifier_mismatch: 'request_rejected',
  credentials_missing: 'request_rejected',
  authorization_malformed: 'request_rejected',
  token_unknown: 'request_rejected',
  store_unavailable: 'store_unavailable',
  internal_error: 'request_rejected'
} satisfies Record<RefusalReason, EventType>

type Labels = { type: EventType, reason: string, secret_index?: number }

/** Everything that can be counted. While a secret is rotated, a portal has two: `secret_index` 0 and 1. */
const outcomes: Labels[] = [
  { type: 'login_required', reason: 'login_page' },
  { type: 'login_required', reason: 'current_user_replied' },
  { type: 'code_issued', reason: 'ok' },
  { type: 'token_issued', reason: 'ok', secret_index: 0 },
  { type: 'token_issued', reason: 'ok', secret_index: 1 },
  { type: 'user_information_returned', reason: 'ok' },
  ...Object.entries(refusals).map(([reason, type]) => ({ type, reason }))
]

/**
 * The metrics of one process.
 *
 * `partner_sso_events_total`: every series of these `clientIds` exists from the start, at 0. Prometheus sees an
 * increase only between two samples, so a series that begins at 1 would alert nobody. The labels are named one by one:
 * an event also has the identifier of the user, which is personal data and would make a time series of each user.
 *
 * `partner_sso_ready`: asks the store at each scrape, within `storeTimeout`. While the store is lost, a balancer may
 * send no request here, and a counter would stay as it is.
 */
export function partnerSsoMetrics (app: FastifyInstance, clientIds: string[]): Registry {
  const registry = new Registry()
  addGauge(app, registry)
  const counter = new Counter({
    name: 'partner_sso_events_total',
    help: 'Outcomes of requests to the endpoints of fastify-partner-sso',
    labelNames: ['type', 'reason', 'client_id', 'secret_index'] as const,
    registers: [registry]
  })
  for (const clientId of [...clientIds, 'unknown']) {
    for (const outcome of outcomes) counter.inc({ ...outcome, client_id: clientId }, 0)
  }
  const count = (message: unknown) => {
    const event = message as PartnerSsoEvent
    const { type, reason, clientId = 'unknown' } = event
    const rotation = 'secretIndex' in event ? { secret_index: event.secretIndex } : {}
    counter.inc({ type, reason, client_id: clientId, ...rotation })
  }
  subscribe('fastify-partner-sso:event', count)
  app.addHook('onClose', async () => { unsubscribe('fastify-partner-sso:event', count) })
  return registry
}

function addGauge (app: FastifyInstance, registry: Registry): void {
  const gauge: Gauge = new Gauge({
    name: 'partner_sso_ready',
    help: 'Whether the store of fastify-partner-sso can serve sign-ins: 1, or 0',
    registers: [registry],
    async collect () { gauge.set(await app.partnerSso.ready() ? 1 : 0) }
  })
}

/** Adds GET /metrics to an app of one process. Keep the route from the public, as any other metrics route. */
export async function metricsRoute (app: FastifyInstance, clientIds: string[]): Promise<void> {
  const registry = partnerSsoMetrics(app, clientIds)
  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics()
    return reply.type(registry.contentType).send(text)
  })
}

/**
 * Serves the metrics on a port that belongs to this process alone, until the app closes. Where workers share a port
 * (node:cluster, PM2), each scrape reaches another one, and a counter that reads 5 4 5 4 looks like an increase of 5
 * at each 5. A sum of all workers is no way out: when one of them restarts, the sum falls, which looks the same.
 *
 * Where a reload replaces a worker, the new one waits until the old one has left the port.
 */
export function serveMetrics (app: FastifyInstance, clientIds: string[], port: number): void {
  const registry = partnerSsoMetrics(app, clientIds)
  const server = createServer((_request, response) => {
    registry.metrics().then(
      (text) => response.setHeader('content-type', registry.contentType).end(text),
      (error: unknown) => {
        app.log.error(error)
        response.writeHead(500).end()
      }
    )
  })
  // Exclusive: node:cluster would share the port among the workers.
  const listen = () => { server.listen({ port, exclusive: true }) }
  let retry: NodeJS.Timeout | undefined
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') retry = setTimeout(listen, 200)
    else app.log.error(error)
  })
  app.addHook('onClose', async () => {
    clearTimeout(retry)
    server.close()
    server.closeAllConnections()
  })
  listen()
}
