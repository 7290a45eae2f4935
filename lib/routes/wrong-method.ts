import type { Endpoint } from '../http/endpoint.ts'
import { Parameters, queryOf } from '../http/parameters.ts'
import { protect, sendRefusal } from '../http/replies.ts'
import { OAuthError } from '../errors.ts'

/**
 * GET /oauth/token: always refused (RFC 6749 section 3.2: the client MUST use POST). Some clients request a token by
 * GET, with the secret and the code in the URL; without this route, Fastify would log it unmasked when it responds 404.
 */
export function wrongMethodRoute (): Endpoint {
  return {
    name: 'token',
    method: 'GET',
    url: '/oauth/token',
    documentation,

    handler: async function partnerSsoWrongMethod ({ originalUrl }) {
      const query = new Parameters(queryOf(originalUrl))
      throw new OAuthError(query.has('client_secret') ? 'credentials_in_url' : 'method_not_allowed')
    },

    protect,

    // RFC 9110 section 15.5.6
    refuse: (error, reply) => sendRefusal(reply.header('allow', 'POST'), error, 405)
  }
}

const documentation = {
  hide: true,
  summary: 'Wrong method',
  description: 'Always refused.'
}
