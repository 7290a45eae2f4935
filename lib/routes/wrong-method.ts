import type { HTTPMethods } from 'fastify'
import { leaveToHost } from '../http/endpoint.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { Parameters, queryOf } from '../http/parameters.ts'
import { partnerSsoOnSend, sendRefusal } from '../http/replies.ts'
import { OAuthError } from '../errors.ts'
import type { Parts } from './parts.ts'

/** The endpoints that clients send secrets to. */
const endpoints = [{ name: 'token', allow: 'POST' }, { name: 'user', allow: 'GET' }] as const

/**
 * Other methods than that of the endpoint: always refused (RFC 6749 section 3.2). Some clients request a token by GET,
 * with the secret and the code in the URL; without these routes, Fastify would log it unmasked when it responds 404.
 */
export function wrongMethodRoutes ({ reporter }: Pick<Parts, 'reporter'>, methods: HTTPMethods[]): Endpoint[] {
  return endpoints.map(({ name, allow }): Endpoint => ({
    name,
    method: methods.filter((method) => method !== allow),
    // A parameter that is always empty. Fastify's router prefers a path without: routes of the host are served.
    url: `/oauth/${name}:nothing(^$)`,
    documentation,

    preParsing: partnerSsoWrongMethod,
    handler: partnerSsoWrongMethod,

    errorHandler: function partnerSsoWrongMethodError (thrown, request, reply) {
      if (!(thrown instanceof OAuthError)) return leaveToHost(thrown)
      reporter.refused(request, thrown)
      // RFC 9110 section 15.5.6
      return sendRefusal(reply.header('allow', allow), thrown, 405)
    },

    onSend: partnerSsoOnSend
  }))
}

/** Before the body is parsed: its content type does not matter. */
async function partnerSsoWrongMethod ({ originalUrl }: { originalUrl: string }): Promise<never> {
  const query = new Parameters(queryOf(originalUrl))
  throw new OAuthError(query.has('client_secret') ? 'credentials_in_url' : 'method_not_allowed')
}

const documentation = {
  hide: true,
  summary: 'Wrong method',
  description: 'Always refused.'
}
