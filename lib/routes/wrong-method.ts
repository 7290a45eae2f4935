import type { Endpoint } from '../http/endpoint.ts'
import { Parameters, queryOf } from '../http/parameters.ts'
import { sendRefusal } from '../http/responses.ts'
import { OAuthError } from '../errors.ts'

/**
 * GET /oauth/token: always refused (RFC 6749 section 3.2: the client MUST use POST). Some clients request a token by
 * GET, with the secret and the code in the URL. Without this route, Fastify would log that URL unmasked when it
 * responds 404, as it does for the methods that no client is known to use.
 */
export function wrongMethodRoute (): Endpoint {
  return {
    name: 'token',
    method: 'GET',
    url: '/oauth/token',
    documentation,

    async handle ({ originalUrl }) {
      const query = new Parameters(queryOf(originalUrl))
      throw new OAuthError(query.has('client_secret') ? 'credentials_in_url' : 'method_not_allowed')
    },

    // RFC 9110 section 15.5.6
    refuse: (error, reply) => sendRefusal(reply, error, 405, { allow: 'POST' })
  }
}

const documentation = {
  hide: true,
  summary: 'Wrong method',
  description: 'Always refused.'
}
