// Metrics for Prometheus: the events of the plugin, at GET /metrics. Needs prom-client. Alerts on them: alerts.yml.
// From a clone, with a portal beside it: npm run ready && node examples/dist/demo.js prometheus
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import type { PartnerSsoEvent, RefusalReason } from 'fastify-partner-sso'
import { Counter, Registry } from 'prom-client'

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
 * Adds GET /metrics. Keep the route from the public, as any other metrics route.
 *
 * Every series of these `clientIds` exists from the start, at 0: Prometheus sees an increase only between two samples,
 * so a series that begins at 1 would alert nobody.
 *
 * The labels are named one by one: an event also has the identifier of the user, which is personal data and would make
 * a time series of each user.
 */
export async function metricsRoute (app: FastifyInstance, clientIds: string[]): Promise<void> {
  const registry = new Registry()
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

  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics()
    return reply.type(registry.contentType).send(text)
  })
}
