import type { PortalLevel } from '../portal/portal.ts'

/** What a code, and the token issued for it, represent: this user at this portal. */
export interface Grant {
  /** `client_id` of the portal. */
  clientId: string
  /** OAuth level of the portal when the code was issued. */
  level: PortalLevel
  /** S256 code_challenge of the authorization request (RFC 7636), or the empty string. */
  codeChallenge: string
  /** The partner application's identifier of the user. */
  externalId: string
  /** The user information record, which was checked once, as text. */
  record: string
}

/** A grant as the store keeps it, and what its token consists of. */
export interface SealedGrant {
  /** Determines where the token is stored. */
  locator: string
  /** Opens the sealed grant. */
  sealingKey: string
  sealed: string
}

/**
 * The grant as text, one line each, so that the record is neither encoded nor parsed again. No line before the record
 * contains a line break: a client_id is visible ASCII, and JSON escapes line breaks.
 */
export function encodeGrant ({ clientId, level, codeChallenge, externalId, record }: Grant): string {
  return [clientId, level, codeChallenge, JSON.stringify(externalId), record].join('\n')
}

/** Reverses `encodeGrant`. Returns null for any other text. */
export function decodeGrant (text: string): Grant | null {
  const head = text.split('\n', 4)
  const [clientId, level, codeChallenge, externalId] = head as [string, PortalLevel, string, string]
  const record = text.slice(head.join('\n').length + 1)
  try {
    return { clientId, level, codeChallenge, externalId: JSON.parse(externalId) as string, record }
  } catch {
    return null
  }
}
