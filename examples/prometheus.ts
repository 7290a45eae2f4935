// Metrics for Prometheus: the same events, at GET /metrics. Needs prom-client.
// Start it, and a portal beside it: npm run ready && node examples/dist/demo.js prometheus
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import type { PartnerSsoEvent } from 'fastify-partner-sso'
import { Counter, Registry } from 'prom-client'

/**
 * Adds GET /metrics. The labels are named one by one: an event also has the identifier of the user, which is personal
 * data and would make a time series of each user. Keep the route from the public, as any other metrics route.
 */
export async function metricsRoute (app: FastifyInstance): Promise<void> {
  const registry = new Registry()
  const counter = new Counter({
    name: 'partner_sso_events_total',
    help: 'Outcomes of requests to the endpoints of fastify-partner-sso',
    labelNames: ['type', 'reason', 'client_id'] as const,
    registers: [registry]
  })
  const count = (message: unknown) => {
    const { type, reason, clientId } = message as PartnerSsoEvent
    counter.inc({ type, reason, client_id: clientId ?? 'unknown' })
  }
  subscribe('fastify-partner-sso:event', count)
  app.addHook('onClose', async () => { unsubscribe('fastify-partner-sso:event', count) })

  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics()
    return reply.type(registry.contentType).send(text)
  })
}
