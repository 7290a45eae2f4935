import { type AccessTokens, isAccessToken } from '../grants/access-token.ts'
import { isAuthorizationRepeated } from '../http/authorization-header.ts'
import { OAuthError } from '../errors.ts'
import { type Reporter } from '../events.ts'
import { type Portals } from '../portal.ts'
import { type Endpoint, protectOnSend, sendJson, sendRefusal } from '../http/replies.ts'

/** What the route works with. */
interface Parts {
  portals: Portals
  tokens: AccessTokens
  reporter: Reporter
  /** Milliseconds that all store calls of a request may take together. */
  storeTimeout: number
}

// RFC 6750 section 2.1: b64token
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/** GET /oauth/user: the user information (spec section 4.3, RFC 6750). */
export function userRoute ({ portals, tokens, reporter, storeTimeout }: Parts): Endpoint {
  return {
    async handler (request, reply) {
      try {
        if (isAuthorizationRepeated(request.raw)) throw new OAuthError('authorization_malformed')
        const token = bearer(request.headers.authorization)
        const grant = isAccessToken(token) ? await tokens.redeem(token, performance.now() + storeTimeout) : null
        // The host's time limit was over first: nobody waits for an answer.
        if (reply.sent) return reply
        if (grant === null || await portals.find(grant.clientId) === undefined) throw new OAuthError('token_unknown')
        const { clientId, externalId, record } = grant
        reporter.report(request, { type: 'user_information_returned', reason: 'ok', clientId, externalId })
        return sendJson(reply, 200, record)
      } catch (error) {
        throw OAuthError.from(error)
      }
    },

    errorHandler (error, request, reply) {
      if (!(error instanceof OAuthError)) throw error
      reporter.refused(request, error)
      const challenge = challengeFor(error)
      if (challenge !== undefined) reply.header('www-authenticate', challenge)
      // RFC 6750 section 3.1: no error code where no credentials came.
      return error.reason === 'credentials_missing' ? reply.code(401).send('') : sendRefusal(reply, error)
    },

    onSend: protectOnSend
  }
}

function bearer (authorization: string | undefined): string {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) throw new OAuthError('credentials_missing')
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw new OAuthError('authorization_malformed')
  return token
}

/** RFC 6750 section 3 */
function challengeFor ({ reason, refusal }: OAuthError): string | undefined {
  if (refusal.status !== 400 && refusal.status !== 401) return undefined
  const realm = 'Bearer realm="partner-sso"'
  if (reason === 'credentials_missing') return realm
  return `${realm}, error="${refusal.error}", error_description="${refusal.description}"`
}
