import type { FastifyRequest } from 'fastify'
import { readAccessToken } from '../grants/access-token.ts'
import type { ProvenToken } from '../grants/access-token.ts'
import { bearerToken, isAuthorizationRepeated } from '../http/authorization-header.ts'
import { text } from '../http/documentation.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { protect, sendJson, sendRefusal, sign } from '../http/replies.ts'
import { isOverdue } from '../http/watch-reply.ts'
import { OAuthError } from '../errors.ts'
import type { RefusalContext } from '../errors.ts'
import * as Type from '../typebox.ts'
import { UserInformation } from '../user-information.ts'
import type { Parts } from './parts.ts'

/** GET /oauth/user: the user information (RFC 6750). */
export function userRoute ({ portals, tokens, reporter, storeTimeout }: Parts): Endpoint {
  return {
    name: 'user',
    method: 'GET',
    url: '/oauth/user',
    documentation,

    handler: async function partnerSsoUser (request, reply) {
      // `handlerTimeout` expired: Fastify has responded.
      if (isOverdue(request)) return reply
      const known: RefusalContext = {}
      try {
        const token = await proveToken(tokenOf(request), known)
        // It has expired in the `portal` function: the token is still good.
        if (isOverdue(request)) return reply
        const grant = await tokens.redeem(token, performance.now() + storeTimeout)
        if (grant === null) throw new OAuthError('token_unknown')
        if (isOverdue(request)) return reply
        known.externalId = grant.record.external_id
        reporter.report(request, { type: 'user_information_returned', reason: 'ok', ...known })
        return sendJson(sign(reply), 200, JSON.stringify(grant.record))
      } catch (error) {
        throw OAuthError.from(error, known)
      }
    },

    protect,

    refuse (error, reply) {
      const challenge = challengeFor(error)
      if (challenge !== undefined) reply.header('www-authenticate', challenge)
      // RFC 6750 section 3.1: no error code where the request has no credentials.
      return error.reason === 'credentials_missing' ? sign(reply).code(401).send('') : sendRefusal(reply, error)
    }
  }

  /** Verifies the token with the secrets of the portal that it names, before any store call. */
  async function proveToken (text: string, known: RefusalContext): Promise<ProvenToken> {
    const token = readAccessToken(text)
    const portal = token && await portals.find(token.clientId)
    const proven = portal && tokens.prove(token, portal)
    if (!proven) throw new OAuthError('token_unknown')
    known.clientId = token.clientId
    known.signInId = proven.signInId
    return proven
  }
}

function tokenOf (request: FastifyRequest): string {
  if (isAuthorizationRepeated(request.raw.rawHeaders)) throw new OAuthError('authorization_malformed')
  const token = bearerToken(request.headers.authorization)
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
    200: { description: 'The user information record', ...UserInformation }
  }
}
