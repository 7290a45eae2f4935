import type { RegisteredPortal } from '../portal/registered-portal.ts'
import type { UserInformation } from '../user-information.ts'

/** Seconds by which the clocks of the servers of one app may differ. */
const CLOCK_TOLERANCE = 300

/** A code of a portal, and what is derived from it. */
export interface AuthorizationCode {
  code: string
  portal: RegisteredPortal
  /** The first part of the token. */
  locator: string
  /** Where the token is stored. */
  tokenKey: string
  signInId: string
}

/** What a code, and the token issued for it, represent: this user at the portal whose secret seals it. */
export interface Grant {
  /** S256 code_challenge of the authorization request (RFC 7636), or the empty string. */
  codeChallenge: string
  /** The user information record, which was checked. */
  record: UserInformation
}

/** The grant of a code that is issued now, as text. */
export function encodeGrant ({ codeChallenge, record }: Grant): string {
  return JSON.stringify({ issuedAt: Date.now(), codeChallenge, record })
}

/**
 * Reverses `encodeGrant`. Returns null when the code was issued more than `lifetime` seconds ago: the store counts the
 * lifetime, and a value that is written back to it later is rejected. A code from the future is rejected too.
 */
export function decodeGrant (text: string, lifetime: number): Grant | null {
  const grant = JSON.parse(text) as Grant & { issuedAt: number }
  const age = (Date.now() - grant.issuedAt) / 1000
  return age > lifetime + CLOCK_TOLERANCE || age < -CLOCK_TOLERANCE ? null : grant
}
