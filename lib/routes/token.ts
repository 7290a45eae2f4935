import type { KeyObject } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AccessTokens } from '../grants/access-token.ts'
import type { AuthorizationCode, AuthorizationCodes, RedeemedCode } from '../grants/authorization-code.ts'
import type { Grant } from '../grants/grant.ts'
import { verifies } from '../grants/pkce.ts'
import { basicCredentials, isAuthorizationRepeated } from '../http/authorization-header.ts'
import { isOverdue } from '../http/call-hook.ts'
import { fixed, refusal, serverErrors, text } from '../http/documentation.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { requireForm } from '../http/form.ts'
import { Parameters, queryOf } from '../http/parameters.ts'
import { redirectUriDifference } from '../http/redirect-uri-difference.ts'
import { sendJson, sendRefusal } from '../http/responses.ts'
import { OAuthError } from '../errors.ts'
import type { RefusalContext } from '../errors.ts'
import { authenticate } from '../portal/portals.ts'
import type { Credentials } from '../portal/portals.ts'
import type { RegisteredPortal } from '../portal/registered-portal.ts'
import * as Type from '../typebox.ts'
import type { Parts } from './parts.ts'

/** What a token request must have (RFC 6749 section 4.1.3), and the code_verifier of RFC 7636. */
interface TokenRequest {
  codeText: string
  redirectUri: string
  verifier: string | undefined
  credentials: Credentials
}

/** POST /oauth/token: the token endpoint (RFC 6749 section 3.2). */
export function tokenRoute ({ portals, codes, tokens, reporter, storeTimeout }: Parts): Endpoint {
  return {
    name: 'token',
    method: 'POST',
    url: '/oauth/token',
    documentation,

    preParse: requireForm,

    async handle (request, reply) {
      let known: RefusalContext = {}
      try {
        const { codeText, redirectUri, verifier, credentials } = readTokenRequest(request)
        const { portal, secret, secretIndex } = await authenticate(portals, credentials)
        known = { clientId: portal.information.clientId }
        const code = codes.read(codeText, portal)
        if (code !== null) known = { ...known, signInId: code.signInId }
        checkRedirectUri(redirectUri, portal)
        // `handlerTimeout` expired: Fastify has responded, and the code is still good.
        if (isOverdue(request)) return reply
        if (code === null) throw new OAuthError('code_malformed')
        const deadline = performance.now() + storeTimeout
        const redeemed = await redeemCode(code, secret, codes, tokens, deadline)
        known = { ...known, externalId: redeemed.grant.record.external_id }
        checkVerifier(verifier, redeemed.grant)
        const token = await tokens.issue(code, redeemed, deadline)
        // A concurrent replay has revoked the token.
        if (token === null) throw new OAuthError('code_replayed')
        if (isOverdue(request)) return reply
        reporter.report(request, { type: 'token_issued', reason: 'ok', ...known, secretIndex })
        return sendJson(reply, `{"token_type":"Bearer","access_token":"${token}"}`)
      } catch (error) {
        throw OAuthError.from(error, known)
      }
    },

    refuse (error, reply) {
      const { status } = error.refusal
      // RFC 6749 section 5.2 and RFC 9110 section 15.5.2: a 401 says how to authenticate.
      const headers = status === 401 ? { 'www-authenticate': 'Basic realm="partner-sso"' } : {}
      return sendRefusal(reply, error, status, headers)
    }
  }
}

/** Redeems the code. It cannot be used again, even if a later check fails. */
async function redeemCode (
  code: AuthorizationCode, secret: KeyObject, codes: AuthorizationCodes, tokens: AccessTokens, deadline: number
): Promise<RedeemedCode> {
  const redeemed = await codes.redeem(code, secret, deadline)
  if (redeemed !== null) return redeemed
  // RFC 6749 section 4.1.2: a reused code: SHOULD revoke its token. A live token proves the reuse.
  const replayed = await tokens.revoke(code, deadline)
  if (replayed === null) throw new OAuthError('code_unknown')
  throw new OAuthError('code_replayed', { externalId: replayed.record.external_id })
}

/** Reads the form and the credentials, and checks that nothing is missing or repeated. */
function readTokenRequest (request: FastifyRequest): TokenRequest {
  const form = request.body
  if (!(form instanceof Parameters)) throw new OAuthError('content_type_unsupported')
  if (form.malformed) throw new OAuthError('body_unreadable')
  if (form.excessive) throw new OAuthError('parameters_excessive')
  const query = new Parameters(queryOf(request.originalUrl))
  // RFC 6749 section 2.3.1: MUST NOT be included in the request URI
  if (query.has('client_id') || query.has('client_secret')) throw new OAuthError('credentials_in_url')
  if (form.repeated) throw new OAuthError('parameter_repeated')
  const grantType = form.get('grant_type')
  if (grantType === undefined) throw new OAuthError('grant_type_missing')
  // Before what only the authorization code grant has: a refresh request has no redirect_uri and no code.
  if (grantType !== 'authorization_code') throw new OAuthError('grant_type_unsupported')
  const redirectUri = form.get('redirect_uri')
  if (redirectUri === undefined) throw new OAuthError('redirect_uri_missing')
  const codeText = form.get('code')
  if (codeText === undefined) throw new OAuthError('code_missing')
  return { codeText, redirectUri, verifier: form.get('code_verifier'), credentials: readCredentials(request, form) }
}

/** The credentials of the form or of HTTP Basic, not of both (RFC 6749 section 2.3). */
function readCredentials (request: FastifyRequest, form: Parameters): Credentials {
  if (isAuthorizationRepeated(request.raw.rawHeaders)) throw new OAuthError('authentication_repeated')
  const clientId = form.get('client_id')
  const clientSecret = form.get('client_secret')
  const basic = basicCredentials(request.headers.authorization)
  if (basic === undefined) {
    // RFC 6749 section 5.2: no client authentication included
    if (clientSecret === undefined) throw new OAuthError('authentication_missing')
    if (clientId === undefined) throw new OAuthError('client_id_missing')
    return { clientId: [clientId], clientSecret: [clientSecret] }
  }
  if (clientSecret !== undefined) throw new OAuthError('authentication_repeated')
  if (basic === null) throw new OAuthError('authentication_malformed')
  // The same client_id beside Basic is not a second method (RFC 6749 section 3.2.1); another one is.
  if (clientId !== undefined && !basic.clientId.includes(clientId)) throw new OAuthError('authentication_repeated')
  return basic
}

/** RFC 6749 section 4.1.3: identical to the one of the authorization request. */
function checkRedirectUri (given: string, { information: { redirectUri: expected } }: RegisteredPortal): void {
  if (given === expected) return
  throw new OAuthError('redirect_uri_mismatch', { expected, difference: redirectUriDifference(given, expected) })
}

/** RFC 7636 section 4.6; a verifier without a challenge would be a downgrade (RFC 9700 section 2.1.1). */
function checkVerifier (verifier: string | undefined, { codeChallenge }: Grant): void {
  if (codeChallenge === '') {
    if (verifier === undefined) return
    throw new OAuthError('code_verifier_unexpected')
  }
  if (verifier === undefined) throw new OAuthError('code_verifier_missing')
  if (!verifies(verifier, codeChallenge)) throw new OAuthError('code_verifier_mismatch')
}

const documentation = {
  summary: 'Token endpoint',
  description: 'Exchanges a code for an access token (RFC 6749 section 4.1.3). ' +
    'The portal authenticates in the form or with HTTP Basic.',
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object({
    grant_type: fixed('authorization_code'),
    code: text('The code, single-use'),
    redirect_uri: text('Callback URL of the portal, exactly as registered'),
    client_id: Type.Optional(text('Client identifier of the portal')),
    client_secret: Type.Optional(text('Client secret of the portal')),
    code_verifier: Type.Optional(text('PKCE verifier (RFC 7636)'))
  }),
  response: {
    200: Type.Object({ token_type: fixed('Bearer'), access_token: text('Opaque') },
      { description: 'The access token, single-use' }),
    400: refusal('invalid_request, invalid_grant or unsupported_grant_type'),
    401: refusal('invalid_client, with WWW-Authenticate'),
    ...serverErrors
  }
}
