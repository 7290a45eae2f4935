import { type FastifySchema } from 'fastify'
import { UserInformation } from '../user-information.ts'

/** What an API document says of a route. Nothing is validated or serialized by it. */
export interface Documentation {
  summary: string
  description: string
  [keyword: string]: unknown
}

/**
 * What tells @fastify/swagger of a route, in JSON Schema that is valid in Swagger 2 and OpenAPI 3 alike. It stays out of
 * the route's own `schema`: there it would give Fastify serializers for what the host's error handler answers, and a
 * transform of the host's that understands zod alone would fail on it. Of what the host puts into the `schema` of
 * `routeOptions`, the route keeps what describes (tags, hide, security) and nothing that validates or serializes.
 */
export function documented (documentation: Documentation, ofHost: FastifySchema = {}): { config: object, schema: FastifySchema } {
  const { body, querystring, query, params, headers, response, ...schema } = ofHost as FastifySchema & { query?: unknown }
  const swaggerTransform = ({ url }: { url: string }) => ({ schema: { ...documentation, ...ofHost }, url })
  return { config: { swaggerTransform }, schema }
}

const text = (description: string) => ({ type: 'string', description })
const fixed = (value: string) => ({ type: 'string', enum: [value] })

const refusal = (description: string) => ({
  description,
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: text('Error code of RFC 6749 or RFC 6750'), error_description: text('One fixed sentence') }
})
const unavailable = { ...refusal('The store is unavailable'), headers: { 'retry-after': text('Seconds to wait') } }
const challenge = { 'www-authenticate': text('How to authenticate') }

export const authorizeDocumentation = {
  summary: 'Authorization endpoint',
  description: 'Sends the browser of a user who is logged in back to the portal, with a code (RFC 6749 section 4.1.1).',
  querystring: {
    type: 'object',
    required: ['client_id', 'redirect_uri', 'response_type', 'state'],
    properties: {
      client_id: text('Client identifier of the portal'),
      redirect_uri: text('Callback URL of the portal, exactly as registered'),
      response_type: fixed('code'),
      state: text('Given back unchanged'),
      scope: text('Accepted and ignored'),
      code_challenge: text('PKCE challenge (RFC 7636)'),
      code_challenge_method: fixed('S256')
    }
  },
  response: {
    302: {
      description: 'To the portal with code and state, or with error, error_description and state; or to the login page',
      type: 'null',
      headers: { location: text('Where the browser goes') }
    },
    400: refusal('The client_id or redirect_uri is not registered; a page where the Accept header prefers HTML')
  }
}

export const tokenDocumentation = {
  summary: 'Token endpoint',
  description: 'Exchanges a code for an access token (RFC 6749 section 4.1.3). The portal authenticates in the form or with HTTP Basic.',
  consumes: ['application/x-www-form-urlencoded'],
  body: {
    type: 'object',
    required: ['grant_type', 'code', 'redirect_uri'],
    properties: {
      grant_type: fixed('authorization_code'),
      code: text('The code, good for one use'),
      redirect_uri: text('Callback URL of the portal, exactly as registered'),
      client_id: text('Client identifier of the portal'),
      client_secret: text('Client secret of the portal'),
      code_verifier: text('PKCE verifier (RFC 7636)')
    }
  },
  response: {
    200: {
      description: 'The access token, good for one use',
      type: 'object',
      required: ['token_type', 'access_token'],
      properties: { token_type: fixed('Bearer'), access_token: text('Opaque') }
    },
    400: refusal('The request or the code is not valid'),
    401: { ...refusal('Client authentication failed'), headers: challenge },
    503: unavailable
  }
}

interface FieldSchema { type?: string, enum?: readonly string[], anyOf?: unknown, description?: string }

const [partnerUser, clientUser] = UserInformation.anyOf

/** A field of the record in words that Swagger 2 knows too: it has no `anyOf`, `const` and `not`. */
function documentedField ({ anyOf, ...field }: FieldSchema): object {
  return { ...field, description: `Must be ${field.description}` }
}

const fields = Object.entries(clientUser.properties).map(([name, field]) => [name, documentedField(field)])
const choice = (...values: string[]) => ({ type: 'string', enum: values })

export const userDocumentation = {
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
    401: { ...refusal('No access token, or one that is unknown, used or expired'), headers: challenge },
    503: unavailable
  }
}
