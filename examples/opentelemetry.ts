// Metrics with the OpenTelemetry API: the host's own SDK decides where they go. Needs @opentelemetry/api.
// From a clone, with a portal beside it: npm run ready && node examples/dist/demo.js opentelemetry
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { metrics } from '@opentelemetry/api'
import type { Meter, ObservableCallback } from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
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
    const event = message as PartnerSsoEvent
    const { type, reason, clientId = 'unknown' } = event
    counter.add(1, {
      'partner_sso.event.type': type,
      'partner_sso.event.reason': reason,
      'partner_sso.portal.client_id': clientId,
      // While a secret is rotated: 0 for the new one, 1 for the old one.
      ...'secretIndex' in event ? { 'partner_sso.portal.secret_index': event.secretIndex } : {}
    })
  }
  subscribe('fastify-partner-sso:event', count)
  return () => { unsubscribe('fastify-partner-sso:event', count) }
}

/**
 * Measures `partner_sso.ready`: 1, or 0 while the store of this app is lost. It is asked at each export: while the
 * store is lost, a balancer may send no request here, and a counter would stay as it is. Returns what ends it.
 */
export function observeReadiness (
  app: FastifyInstance, meter: Meter = metrics.getMeter('fastify-partner-sso')
): () => void {
  const gauge = meter.createObservableGauge('partner_sso.ready', {
    description: 'Whether the store of fastify-partner-sso can serve sign-ins: 1, or 0'
  })
  const observe: ObservableCallback = async (result) => { result.observe(await app.partnerSso.ready() ? 1 : 0) }
  gauge.addCallback(observe)
  return () => { gauge.removeCallback(observe) }
}
