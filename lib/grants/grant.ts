/** Seconds by which the clocks of the servers of one app may differ. */
const CLOCK_TOLERANCE = 300

/** What a code, and the token issued for it, represent: this user at the portal whose secret seals it. */
export interface Grant {
  /** S256 code_challenge of the authorization request (RFC 7636), or the empty string. */
  codeChallenge: string
  /** The partner application's identifier of the user. */
  externalId: string
  /** The user information record, which was checked once, as text. */
  record: string
}

/** A grant as the store keeps it, and the parts of its token. */
export interface SealedGrant {
  /** Determines where the token is stored. Derived from the code. */
  locator: string
  /** Cannot be computed without the client secret. */
  proof: string
  sealed: string
}

/**
 * The grant of a code that is issued now, as text: one line each, so that the record is neither encoded nor parsed
 * again. No line before the record contains a line break: JSON escapes them.
 */
export function encodeGrant ({ codeChallenge, externalId, record }: Grant): string {
  return [Date.now(), codeChallenge, JSON.stringify(externalId), record].join('\n')
}

/**
 * Reverses `encodeGrant`. Returns null when the code was issued more than `lifetime` seconds ago: the store counts the
 * lifetime, and a value that is written back to it later is rejected. A code from the future is rejected too.
 */
export function decodeGrant (text: string, lifetime: number): Grant | null {
  const [issuedAt, codeChallenge, externalId] = text.split('\n', 3) as [string, string, string]
  const age = (Date.now() - Number(issuedAt)) / 1000
  if (age > lifetime + CLOCK_TOLERANCE || age < -CLOCK_TOLERANCE) return null
  const record = text.slice(issuedAt.length + codeChallenge.length + externalId.length + 3)
  return { codeChallenge, externalId: JSON.parse(externalId) as string, record }
}
