import { createHash, randomBytes } from 'node:crypto'
import type { Integration } from './integration.ts'
import type { WireRequest } from './wire.ts'

/**
 * Changes to a request's parameters: another value, several (the parameter repeated), or undefined
 * (left out).
 */
export type Changes = Record<string, string | string[] | undefined>

/** 256 random bits as base64url: a state, or a PKCE verifier. */
export const randomText = (): string => randomBytes(32).toString('base64url')

/** RFC 7636 §4.2. */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

/** The address that the portal sends the browser to (RFC 6749 §4.1.1). */
export function authorizeUrl (
  integration: Integration, state: string, verifier?: string, changes: Changes = {}
): string {
  const { authorizeUrl: url, clientId, redirectUri } = integration
  const challenge = verifier === undefined
    ? {}
    : { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    state,
    scope: '',
    ...challenge
  }
  return `${url}?${encode({ ...parameters, ...changes }).toString()}`
}

/**
 * The portal's token request (RFC 6749 §4.1.3), with its credentials where the integration expects
 * them.
 */
export function tokenRequest (
  integration: Integration, code: string, verifier?: string, changes: Changes = {}
): WireRequest {
  const { tokenUrl, clientId, clientSecret, redirectUri, clientAuthentication } = integration
  const basic = clientAuthentication === 'basic'
  const credentials = basic ? {} : { client_id: clientId, client_secret: clientSecret }
  const proof = verifier === undefined ? {} : { code_verifier: verifier }
  const fields = {
    ...credentials, redirect_uri: redirectUri, grant_type: 'authorization_code', code, ...proof
  }
  const authorization = basic
    ? [['Authorization', basicCredentials(clientId, clientSecret)] as const]
    : []
  return {
    method: 'POST',
    url: tokenUrl,
    headers: [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ...authorization
    ],
    body: encode({ ...fields, ...changes }).toString()
  }
}

/** The portal's user request (RFC 6750 §2.1). */
export function userRequest ({ userUrl }: Integration, accessToken: string): WireRequest {
  const headers =
    [['Accept', 'application/json'], ['Authorization', `Bearer ${accessToken}`]] as const
  return { method: 'GET', url: userUrl, headers }
}

/** RFC 6749 §2.3.1: each part is form-encoded before they are joined. */
export function basicCredentials (clientId: string, clientSecret: string): string {
  const part = (text: string) => new URLSearchParams({ v: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${part(clientId)}:${part(clientSecret)}`).toString('base64')}`
}

function encode (parameters: Changes): URLSearchParams {
  return new URLSearchParams(Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one])))
}
