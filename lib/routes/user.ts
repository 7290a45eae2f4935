import type { FastifyRequest } from 'fastify'
import { readAccessToken } from '../grants/access-token.ts'
import type { AccessTokens, ProvenToken } from '../grants/access-token.ts'
import { bearerToken, isAuthorizationRepeated } from '../http/authorization-header.ts'
import { isOverdue } from '../http/call-hook.ts'
import { refusal, serverErrors, text } from '../http/documentation.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { sendEmpty, sendJson, sendRefusal } from '../http/responses.ts'
import { OAuthError } from '../errors.ts'
import type { RefusalContext } from '../errors.ts'
import type { Portals } from '../portal/portals.ts'
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

    async handle (request, reply) {
      // `handlerTimeout` expired: Fastify has responded.
      if (isOverdue(request)) return reply
      const { clientId, token } = await provenToken(bearerTokenOf(request), portals, tokens)
      let known: RefusalContext = { clientId, signInId: token.signInId }
      try {
        // It has expired in the `portal` function: the token is still good.
        if (isOverdue(request)) return reply
        const grant = await tokens.redeem(token, performance.now() + storeTimeout)
        if (isOverdue(request)) return reply
        if (grant === null) throw new OAuthError('token_unknown')
        known = { ...known, externalId: grant.record.external_id }
        reporter.report(request, { type: 'user_information_returned', reason: 'ok', ...known })
        return sendJson(reply, JSON.stringify(grant.record))
      } catch (error) {
        throw OAuthError.from(error, known)
      }
    },

    refuse (error, reply) {
      const challenge = challengeFor(error)
      const headers = challenge === undefined ? {} : { 'www-authenticate': challenge }
      // RFC 6750 section 3.1: no error code where the request has no credentials.
      if (error.reason === 'credentials_missing') return sendEmpty(reply, 401, headers)
      return sendRefusal(reply, error, error.refusal.status, headers)
    }
  }
}

/** Verifies the token with the secrets of the portal that it names, before any store call. */
async function provenToken (
  bearer: string, portals: Portals, tokens: AccessTokens
): Promise<{ clientId: string, token: ProvenToken }> {
  const given = readAccessToken(bearer)
  const portal = given && await portals.find(given.clientId)
  const token = portal && tokens.prove(given, portal)
  if (!token) throw new OAuthError('token_unknown')
  return { clientId: given.clientId, token }
}

function bearerTokenOf (request: FastifyRequest): string {
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
    200: { description: 'The user information record', ...UserInformation },
    400: refusal('invalid_request: the Authorization header is malformed'),
    401: refusal('invalid_token, with WWW-Authenticate. Without a token the body is empty'),
    ...serverErrors
  }
}
