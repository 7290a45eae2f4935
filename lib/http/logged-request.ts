import { type FastifyBaseLogger } from 'fastify'

type Serializers = Record<string, (value: any) => unknown>

/** Where pino keeps the serializers of a logger; Fastify reads them the same way. */
const SERIALIZERS = Symbol.for('pino.serializers')

// What belongs into these URLs. Anything else is a mistake or an attack, and can be a secret or a live token.
const EXPECTED = '(?:client_id|redirect_uri|response_type|state|scope|code_challenge|code_challenge_method)='
// Fastify's router ends the path at `#` as well, and at `;` by an option. What follows each other is masked as one.
const UNEXPECTED = new RegExp(`([?&#;])(?!${EXPECTED})[^&#;]+(?:[&#;](?!${EXPECTED})[^&#;]*)*`, 'g')

/**
 * Log serializers that keep secrets out of Fastify's own lines: it logs the URL of a request before a route can refuse
 * what is in it (RFC 6749 section 2.3.1, RFC 6750 section 2.3: neither secrets nor tokens belong there). The host's
 * serializer runs as before; only the `url` that it returns is masked.
 */
export function maskingSerializers (log: FastifyBaseLogger, given: Serializers = {}): Serializers {
  const serialize = given.req ?? (log as { [SERIALIZERS]?: Serializers })[SERIALIZERS]?.req
  return serialize === undefined ? given : { ...given, req: (request) => mask(serialize(request)) }
}

function mask (logged: unknown): unknown {
  const url = (logged as { url?: unknown } | null)?.url
  return typeof url === 'string' ? { ...logged as object, url: url.replace(UNEXPECTED, '$1…') } : logged
}
