import { type FastifyRequest } from 'fastify'
import { type AccessTokens } from '../grants/access-token.ts'
import { type AuthorizationCodes, isAuthorizationCode, type Redemption } from '../grants/authorization-code.ts'
import { isAuthorizationRepeated } from '../http/authorization-header.ts'
import { OAuthError, type RefusalContext } from '../errors.ts'
import { type Reporter } from '../events.ts'
import { type Grant } from '../grants/grant.ts'
import { formDecode, Parameters, queryOf } from '../http/parameters.ts'
import { verifies } from '../grants/pkce.ts'
import { type Authentication, type Portals, type RegisteredPortal } from '../portal.ts'
import { type Endpoint, protectOnSend, sendJson, sendRefusal } from '../http/replies.ts'

/** What the route works with. */
interface Parts {
  portals: Portals
  codes: AuthorizationCodes
  tokens: AccessTokens
  reporter: Reporter
  /** Milliseconds that all store calls of a request may take together. */
  storeTimeout: number
}

/** POST /oauth/token: the token endpoint (spec section 4.2, RFC 6749 section 3.2). */
export function tokenRoute ({ portals, codes, tokens, reporter, storeTimeout }: Parts): Endpoint {
  return {
    async handler (request, reply) {
      let known: RefusalContext = {}
      try {
        const form = formOf(request)
        const { portal } = await authenticate(request, form)
        known = { clientId: portal.clientId }
        // RFC 6749 section 4.1.3: identical to the one of the authorization request
        if (form.get('redirect_uri') !== portal.redirectUri) throw new OAuthError('redirect_uri_mismatch', { expected: portal.redirectUri })
        const deadline = performance.now() + storeTimeout
        const { grant, locator } = await redeem(form.get('code') as string, portal, deadline)
        const { clientId, externalId } = grant
        known = { clientId, externalId }
        checkVerifier(form.get('code_verifier'), grant)
        const token = await tokens.issue(locator, grant, deadline)
        if (token === null) throw new OAuthError('code_replayed')
        reporter.report(request, { type: 'token_issued', reason: 'ok', clientId, externalId })
        return sendJson(reply, 200, `{"token_type":"Bearer","access_token":"${token}"}`)
      } catch (error) {
        throw OAuthError.from(error).with(known)
      }
    },

    errorHandler (thrown, request, reply) {
      const error = thrown instanceof OAuthError ? thrown : bodyError(thrown)
      reporter.refused(request, error)
      // RFC 6749 section 5.2 and RFC 9110 section 15.5.2: a 401 says how to authenticate.
      if (error.refusal.status === 401) reply.header('www-authenticate', 'Basic realm="partner-sso"')
      return sendRefusal(reply, error)
    },

    onSend: protectOnSend
  }

  async function authenticate (request: FastifyRequest, form: Parameters): Promise<Authentication> {
    if (isAuthorizationRepeated(request.raw)) throw new OAuthError('authentication_repeated')
    const { clientId, clientSecret } = credentials(request.headers.authorization, form)
    return await portals.authenticate(clientId, clientSecret)
  }

  /** Up to here the code was not touched; from here on it is used up. */
  async function redeem (code: string, portal: RegisteredPortal, deadline: number): Promise<Redemption & { grant: Grant }> {
    if (!isAuthorizationCode(code)) throw new OAuthError('code_malformed')
    const { grant, locator } = await codes.redeem(code, portal, deadline)
    if (grant !== null) return { grant, locator }
    await tokens.revoke(locator, deadline)
    throw new OAuthError('code_used_or_expired')
  }
}

/** The form, with what every request must have (spec section 4.2); credentials are looked at apart. */
function formOf (request: FastifyRequest): Parameters {
  const form = request.body
  if (!(form instanceof Parameters)) throw new OAuthError('content_type_unsupported')
  if (form.malformed) throw new OAuthError('body_unreadable')
  const query = new Parameters(queryOf(request.raw.url as string))
  // RFC 6749 section 2.3.1: MUST NOT be included in the request URI
  if (query.has('client_id') || query.has('client_secret')) throw new OAuthError('credentials_in_url')
  if (form.repeated) throw new OAuthError('parameter_repeated')
  if (form.get('grant_type') === undefined) throw new OAuthError('grant_type_missing')
  if (form.get('redirect_uri') === undefined) throw new OAuthError('redirect_uri_missing')
  if (form.get('code') === undefined) throw new OAuthError('code_missing')
  if (form.get('grant_type') !== 'authorization_code') throw new OAuthError('grant_type_unsupported')
  return form
}

interface Credentials { clientId: string, clientSecret: string }

/** Credentials of the form or of HTTP Basic, not of both (RFC 6749 section 2.3). */
function credentials (authorization: string | undefined, form: Parameters): Credentials {
  const [clientId, clientSecret] = [form.get('client_id'), form.get('client_secret')]
  const basic = /^basic(?: +(.*))?$/i.exec(authorization ?? '')
  if (basic === null) {
    if (clientId === undefined) throw new OAuthError('client_id_missing')
    if (clientSecret === undefined) throw new OAuthError('client_secret_missing')
    return { clientId, clientSecret }
  }
  if (clientSecret !== undefined) throw new OAuthError('authentication_repeated')
  const decoded = decodeBasic(basic[1] ?? '')
  if (decoded === null) throw new OAuthError('authentication_malformed')
  // The same client_id beside Basic is no second method (RFC 6749 section 3.2.1); another one is.
  if (clientId !== undefined && clientId !== decoded.clientId) throw new OAuthError('authentication_repeated')
  return decoded
}

/** RFC 7617 section 2, both parts form-encoded (RFC 6749 section 2.3.1). */
function decodeBasic (encoded: string): Credentials | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon === -1) return null
  const clientId = formDecode(text.slice(0, colon))
  const clientSecret = formDecode(text.slice(colon + 1))
  return clientId === null || clientSecret === null ? null : { clientId, clientSecret }
}

/** RFC 7636 section 4.6; a verifier without a challenge would be a downgrade (RFC 9700 section 2.1.1). */
function checkVerifier (verifier: string | undefined, { codeChallenge }: Grant): void {
  if (codeChallenge === '' && verifier === undefined) return
  if (codeChallenge === '') throw new OAuthError('code_verifier_unexpected')
  if (verifier === undefined) throw new OAuthError('code_verifier_missing')
  if (!verifies(verifier, codeChallenge)) throw new OAuthError('code_verifier_mismatch')
}

/** What Fastify says of a body that it cannot read; anything else is the host's to answer, and thrown on. */
function bodyError (error: Error & { code?: string }): OAuthError {
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new OAuthError('content_type_unsupported')
  if (error.code?.startsWith('FST_ERR_CTP_')) return new OAuthError('body_unreadable')
  throw error
}
