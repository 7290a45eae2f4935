// Metrics with the OpenTelemetry API: the host's own SDK decides where they go. Needs @opentelemetry/api.
// From a clone, with a portal beside it: npm run ready && node examples/dist/demo.js opentelemetry
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { metrics } from '@opentelemetry/api'
import type { Meter } from '@opentelemetry/api'
import type { PartnerSsoEvent } from 'fastify-partner-sso'

/**
 * Counts every event of the plugin in `partner_sso.events`. The attributes are named one by one: an event also has the
 * identifier of the user, which is personal data and would make a time series of each user. Returns what ends it.
 */
export function countEvents (meter: Meter = metrics.getMeter('fastify-partner-sso')): () => void {
  const counter = meter.createCounter('partner_sso.events', {
    description: 'Outcomes of requests to the endpoints of fastify-partner-sso',
    unit: '{event}'
  })
  const count = (message: unknown) => {
    const { type, reason, clientId } = message as PartnerSsoEvent
    counter.add(1, {
      'partner_sso.event.type': type,
      'partner_sso.event.reason': reason,
      'partner_sso.portal.client_id': clientId ?? 'unknown'
    })
  }
  subscribe('fastify-partner-sso:event', count)
  return () => { unsubscribe('fastify-partner-sso:event', count) }
}
