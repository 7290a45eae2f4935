import type { PortalLevel } from '../options/portal.ts'

/** What a code, and the token issued for it, represent: this user at this portal. */
export interface Grant {
  /** Time of issue of the code, in milliseconds since 1970. */
  issuedAt: number
  /** `client_id` of the portal. */
  clientId: string
  /** OAuth level of the portal when the code was issued. */
  level: PortalLevel
  /** S256 code_challenge of the authorization request (RFC 7636), or the empty string. */
  codeChallenge: string
  /** The partner application's identifier of the user. */
  externalId: string
  /** The user information record as JSON. It was checked once, and is sent as it is. */
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

/** Seconds by which the clocks of the servers of one app may differ. */
const CLOCK_TOLERANCE = 300

/**
 * Whether something issued at that time, for lifetime seconds, is too old. The store counts the lifetime; this makes
 * worthless what somebody writes back to the store later.
 */
export function isOutdated (issuedAt: number, lifetime: number): boolean {
  return Date.now() > issuedAt + (lifetime + CLOCK_TOLERANCE) * 1000
}

/**
 * The grant as text, one line each, so that the record is neither encoded nor parsed again. No line contains a line
 * break: a client_id is visible ASCII, and JSON escapes line breaks.
 */
export function encodeGrant ({ issuedAt, clientId, level, codeChallenge, externalId, record }: Grant): string {
  return `${issuedAt}\n${clientId}\n${level}\n${codeChallenge}\n${JSON.stringify(externalId)}\n${record}`
}

/** Reverses `encodeGrant`. Returns null for any other text. */
export function decodeGrant (text: string): Grant | null {
  const [issuedAt, clientId, level, codeChallenge, externalId, record] =
    text.split('\n') as [string, string, PortalLevel, string, string, string]
  try {
    return {
      issuedAt: Number(issuedAt), clientId, level, codeChallenge, externalId: JSON.parse(externalId) as string, record
    }
  } catch {
    return null
  }
}
