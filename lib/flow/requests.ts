import { createHash, randomBytes } from 'node:crypto'
import type { Integration } from './integration.ts'
import type { WireRequest } from './wire.ts'

/**
 * Changes to a request's parameters: another value, several (the parameter repeated), or undefined
 * (left out).
 */
export type Changes = Record<string, string | string[] | undefined>

/** An authorization code, and the PKCE verifier whose challenge was sent in its request. */
export interface IssuedCode {
  code: string
  verifier?: string | undefined
}

/** 256 random bits as base64url: a state, or a PKCE verifier. */
export const randomText = (): string => randomBytes(32).toString('base64url')

/** The address that the portal sends the browser to (RFC 6749 section 4.1.1). */
export function authorizeUrl (
  integration: Integration,
  verifier?: string,
  changes?: Changes
): string {
  // RFC 7636 section 4.2.
  const challenge = verifier &&
    createHash('sha256').update(verifier).digest('base64url')
  const parameters = encode({
    client_id: integration.clientId,
    redirect_uri: integration.redirectUri,
    response_type: 'code',
    scope: '',
    code_challenge: challenge,
    code_challenge_method: verifier && 'S256',
    ...changes
  })
  return `${integration.authorizeUrl}?${parameters}`
}

/**
 * The portal's token request (RFC 6749 section 4.1.3), with its credentials where the integration expects
 * them.
 */
export function tokenRequest (
  integration: Integration,
  { code, verifier }: IssuedCode,
  changes?: Changes
): WireRequest {
  const { tokenUrl, clientId, clientSecret, redirectUri, clientAuthentication } = integration
  const isBasic = clientAuthentication === 'basic'
  const headers: Array<[name: string, value: string]> = [
    ['Accept', 'application/json'],
    ['Content-Type', 'application/x-www-form-urlencoded']
  ]
  if (isBasic) headers.push(['Authorization', `Basic ${basicCredentials(clientId, clientSecret)}`])
  const body = encode({
    ...isBasic ? {} : { client_id: clientId, client_secret: clientSecret },
    redirect_uri: redirectUri,
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    ...changes
  })
  return { method: 'POST', url: tokenUrl, headers, body }
}

/** The portal's user request (RFC 6750 section 2.1). */
export const userRequest = ({ userUrl }: Integration, accessToken: string): WireRequest => ({
  method: 'GET',
  url: userUrl,
  headers: [['Accept', 'application/json'], ['Authorization', `Bearer ${accessToken}`]]
})

/** A browser's request for a page. */
export const pageRequest = (url: string): WireRequest =>
  ({ method: 'GET', url, headers: [['Accept', 'text/html']] })

/** RFC 6749 section 2.3.1: each part is form-encoded before they are joined. */
export const basicCredentials = (clientId: string, clientSecret: string): string =>
  Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')

/** A text as a form has it. */
export const formEncoded = (text: string): string =>
  encode({ '': text }).slice('='.length)

/** The parameters as a form has them. */
function encode (parameters: Changes): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one]))
  return new URLSearchParams(pairs).toString()
}
