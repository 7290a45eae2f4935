import type { FastifyBaseLogger } from 'fastify'

type Serializers = Record<string, (value: any) => unknown>

/** Where pino keeps the serializers of a logger; Fastify reads them the same way. */
const SERIALIZERS = Symbol.for('pino.serializers')

// In the URL of a request to a proxy: `POST http://id:secret@host/oauth/token`.
const USER_INFORMATION = /^((?:[a-z][a-z0-9+.-]*:)?\/\/)[^?]*@/i

/**
 * Log serializers that keep secrets out of Fastify's own lines: it logs the URL of a request before a route can refuse
 * what is in it (RFC 6749 section 2.3.1, RFC 6750 section 2.3: neither secrets nor tokens belong there). User
 * information and all but the expected parameters are masked. The host's serializer runs as before; only the `url` that
 * it returns changes.
 */
export function maskingSerializers (
  log: FastifyBaseLogger, expected: readonly string[], given: Serializers = {}
): Serializers {
  const serialize = given.req ?? (log as { [SERIALIZERS]?: Serializers })[SERIALIZERS]?.req
  if (serialize === undefined) return given
  const unexpected = otherThan(expected)
  return { ...given, req: (request) => mask(serialize(request), unexpected) }
}

/**
 * Matches parameters with other names: with `state` expected, `?code=…&foo=…` of `/?code=x&foo=y&state=z`. Fastify's
 * router ends the path at `#` as well, and at `;` by an option. Adjacent parameters are masked as one.
 */
function otherThan (names: readonly string[]): RegExp {
  // `[]` matches nothing.
  const expected = `(?:${names.join('|') || '[]'})=`
  return new RegExp(`([?&#;])(?!${expected})[^&#;]+(?:[&#;](?!${expected})[^&#;]*)*`, 'g')
}

function mask (logged: unknown, unexpected: RegExp): unknown {
  const url = (logged as { url?: unknown } | null)?.url
  if (typeof url !== 'string') return logged
  return { ...logged as object, url: url.replace(USER_INFORMATION, '$1…@').replace(unexpected, '$1…') }
}
