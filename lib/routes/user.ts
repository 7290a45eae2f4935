import { type FastifyRequest } from 'fastify'
import { type AccessTokens, isAccessToken, type RedeemedToken } from '../grants/access-token.ts'
import { watchAnswer } from '../http/answered.ts'
import { bearerToken, isAuthorizationRepeated } from '../http/authorization-header.ts'
import { refusal, text, unauthorized, unavailable } from '../http/documentation.ts'
import { type Endpoint, leaveToHost } from '../http/endpoint.ts'
import { protectOnSend, sendJson, sendRefusal } from '../http/replies.ts'
import { OAuthError } from '../errors.ts'
import { type Reporter } from '../events.ts'
import { type Portals } from '../portal.ts'
import { UserInformation } from '../user-information.ts'

/** What the route works with. */
interface Parts {
  portals: Portals
  tokens: AccessTokens
  reporter: Reporter
  /** Milliseconds that the store calls of one request may take together. */
  storeTimeout: number
}

/** GET /oauth/user: the user information (spec section 4.3, RFC 6750). */
export function userRoute ({ portals, tokens, reporter, storeTimeout }: Parts): Endpoint {
  return {
    method: 'GET',
    url: '/oauth/user',
    documentation,

    async handler (request, reply) {
      const isAnswered = watchAnswer(reply)
      try {
        const token = await redeem(tokenOf(request))
        await checkPortal(token)
        const { clientId, externalId, record } = token.grant
        // The host's time limit was over first: nobody waits for an answer.
        if (isAnswered()) return reply
        reporter.report(request, { type: 'user_information_returned', reason: 'ok', clientId, externalId })
        return sendJson(reply, 200, record)
      } catch (error) {
        throw OAuthError.from(error)
      }
    },

    errorHandler (error, request, reply) {
      if (!(error instanceof OAuthError)) return leaveToHost(error, reply)
      reporter.refused(request, error)
      const challenge = challengeFor(error)
      if (challenge !== undefined) reply.header('www-authenticate', challenge)
      // RFC 6750 section 3.1: no error code where the request has no credentials.
      return error.reason === 'credentials_missing' ? reply.code(401).send('') : sendRefusal(reply, error)
    },

    onSend: protectOnSend
  }

  /** What the token stands for. The token is used up by this. */
  async function redeem (token: string): Promise<RedeemedToken> {
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

interface FieldSchema { type?: string, enum?: readonly string[], anyOf?: unknown, description?: string }

const [partnerUser, clientUser] = UserInformation.anyOf

/** A field of the record in words that Swagger 2 knows too: it has no `anyOf`, `const` and `not`. */
function documentedField ({ anyOf, ...field }: FieldSchema): object {
  return { ...field, description: `Must be ${field.description}` }
}

const fields = Object.entries(clientUser.properties).map(([name, field]) => [name, documentedField(field)])
const choice = (...values: string[]) => ({ type: 'string', enum: values })

const documentation = {
  summary: 'User information',
  description: 'The record of the user whom the access token stands for.',
  headers: {
    type: 'object',
    required: ['authorization'],
    properties: { authorization: text('Bearer, and the access token') }
  },
  response: {
    200: {
      description: 'The user information record',
      type: 'object',
      required: clientUser.required,
      // Without the rules that join type, roles and client fields: Swagger 2 has no words for them.
      properties: {
        ...Object.fromEntries(fields),
        type: { ...choice('partner', 'client'), description: 'Whose user it is: the partner\'s or a client\'s' },
        control_role: {
          ...choice(...partnerUser.properties.control_role.enum, ...clientUser.properties.control_role.enum),
          description: 'What the user may do with the account; the first two where type is "partner"'
        }
      }
    },
    400: refusal('The Authorization header is malformed'),
    401: unauthorized('No access token, or one that is unknown, used or expired'),
    503: unavailable
  }
}
