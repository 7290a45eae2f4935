import type { UserInformation } from '../user-information.ts'

/** Seconds by which the clocks of the servers of one app may differ. */
const CLOCK_TOLERANCE = 300

/** What an authorization code represents, and the access token that is issued for it. */
export interface Grant {
  /** The S256 code_challenge of the authorization request (RFC 7636 section 4.3), or the empty string. */
  codeChallenge: string
  /** The user's record, which was checked. */
  record: UserInformation
}

/** The grant of a code that is issued now, as text. */
export function encodeGrant ({ codeChallenge, record }: Grant): string {
  return JSON.stringify({ issuedAt: Date.now(), codeChallenge, record })
}

/**
 * Reverses `encodeGrant`. Single use is a promise of the store alone. The time of issue, which is sealed with the
 * grant, bounds what somebody can do who writes an old value back to the store: such a value is refused after its
 * lifetime.
 *
 * @param lifetime - seconds that may have passed since the code was issued
 * @returns null when more time has passed, or when the code was issued in the future, by clocks that may differ by five
 *   minutes
 */
export function decodeGrant (text: string, lifetime: number): Grant | null {
  const { issuedAt, codeChallenge, record } = JSON.parse(text) as Grant & { issuedAt: number }
  const age = (Date.now() - issuedAt) / 1000
  const isInTime = age >= -CLOCK_TOLERANCE && age <= lifetime + CLOCK_TOLERANCE
  return isInTime ? { codeChallenge, record } : null
}
