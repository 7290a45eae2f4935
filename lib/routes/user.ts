import type { FastifyRequest } from 'fastify'
import { isAccessToken } from '../grants/access-token.ts'
import type { RedeemedToken } from '../grants/access-token.ts'
import { bearerToken, isAuthorizationRepeated } from '../http/authorization-header.ts'
import { refusal, text, unauthorized, unavailable } from '../http/documentation.ts'
import { leaveToHost } from '../http/endpoint.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { partnerSsoOnSend, protect, sendJson, sendRefusal } from '../http/replies.ts'
import { watchReply } from '../http/watch-reply.ts'
import { OAuthError } from '../errors.ts'
import * as Type from '../typebox.ts'
import { recordJson, UserInformation } from '../user-information.ts'
import type { Parts } from './parts.ts'

/** GET /oauth/user: the user information (spec section 4.3, RFC 6750). */
export function userRoute ({ portals, tokens, reporter, storeTimeout }: Parts): Endpoint {
  return {
    name: 'user',
    method: 'GET',
    url: '/oauth/user',
    documentation,

    handler: async function partnerSsoUser (request, reply) {
      const hasResponded = watchReply(reply)
      // `handlerTimeout` expired: Fastify has responded.
      if (hasResponded()) return reply
      try {
        const token = await redeemToken(tokenOf(request))
        await checkPortal(token)
        const { clientId, externalId, record } = token.grant
        if (hasResponded()) return reply
        reporter.report(request, { type: 'user_information_returned', reason: 'ok', clientId, externalId })
        return sendJson(reply, 200, recordJson(record))
      } catch (error) {
        throw OAuthError.from(error)
      }
    },

    errorHandler: function partnerSsoUserError (error, request, reply) {
      if (!(error instanceof OAuthError)) return leaveToHost(error)
      reporter.refused(request, error)
      // A hook of the host may throw while this is sent: then our onSend does not run.
      protect(reply)
      const challenge = challengeFor(error)
      if (challenge !== undefined) reply.header('www-authenticate', challenge)
      // RFC 6750 section 3.1: no error code where the request has no credentials.
      return error.reason === 'credentials_missing' ? reply.code(401).send('') : sendRefusal(reply, error)
    },

    onSend: partnerSsoOnSend
  }

  /** Redeems the token: whatever fails from here on, it cannot be used again. */
  async function redeemToken (token: string): Promise<RedeemedToken> {
    const redeemed = isAccessToken(token) ? await tokens.redeem(token, performance.now() + storeTimeout) : null
    if (redeemed === null) throw new OAuthError('token_unknown')
    return redeemed
  }

  /** The portal must still exist, have the secret that the token was issued with, and be at the same level. */
  async function checkPortal ({ grant: { clientId, externalId, level }, wasIssuedFor }: RedeemedToken): Promise<void> {
    const portal = await portals.find(clientId)
    if (portal === undefined || !wasIssuedFor(portal)) throw new OAuthError('token_unknown')
    // The record was checked for that level.
    if (portal.information.level !== level) throw new OAuthError('token_unknown', { clientId, externalId })
  }
}

function tokenOf (request: FastifyRequest): string {
  if (isAuthorizationRepeated(request.raw)) throw new OAuthError('authorization_malformed')
  const token = bearerToken(request)
  if (token === undefined) throw new OAuthError('credentials_missing')
  if (token === null) throw new OAuthError('authorization_malformed')
  return token
}

/** RFC 6750 section 3 */
function challengeFor ({ reason, refusal }: OAuthError): string | undefined {
  if (refusal.status !== 400 && refusal.status !== 401) return undefined
  const realm = 'Bearer realm="partner-sso"'
  if (reason === 'credentials_missing') return realm
  return `${realm}, error="${refusal.error}", error_description="${refusal.description}"`
}

const documentation = {
  summary: 'User information',
  description: 'The record of the user whom the access token was issued for.',
  headers: Type.Object({ authorization: text('Bearer, and the access token') }),
  response: {
    200: { description: 'The user information record', ...UserInformation },
    400: refusal('The Authorization header is malformed'),
    401: unauthorized('No access token, or one that is unknown, used or expired'),
    503: unavailable
  }
}
