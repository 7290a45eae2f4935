import { leaveToHost } from '../http/endpoint.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { Parameters, queryOf } from '../http/parameters.ts'
import { partnerSsoOnSend, sendRefusal } from '../http/replies.ts'
import { OAuthError } from '../errors.ts'
import type { Parts } from './parts.ts'

/**
 * GET /oauth/token: always refused (RFC 6749 section 3.2: POST). Some clients send the secret and the code so; without
 * this route, Fastify would log the URL unmasked when it responds 404.
 */
export function tokenByGetRoute ({ reporter }: Pick<Parts, 'reporter'>): Endpoint {
  return {
    name: 'token',
    method: 'GET',
    url: '/oauth/token',
    documentation,

    handler: async function partnerSsoTokenByGet ({ originalUrl }) {
      const query = new Parameters(queryOf(originalUrl))
      throw new OAuthError(query.has('client_secret') ? 'credentials_in_url' : 'method_not_allowed')
    },

    errorHandler: function partnerSsoTokenByGetError (thrown, request, reply) {
      if (!(thrown instanceof OAuthError)) return leaveToHost(thrown)
      reporter.refused(request, thrown)
      // A hook of the host may throw while this is sent: then our onSend does not run.
      // RFC 9110 section 15.5.6
      return sendRefusal(reply.header('allow', 'POST'), thrown, 405)
    },

    onSend: partnerSsoOnSend
  }
}

const documentation = {
  hide: true,
  summary: 'Token endpoint, wrong method',
  description: 'Use POST.'
}
