import { hash } from 'node:crypto'

/** Whether the value can be an S256 code_challenge (RFC 7636 section 4.2): a SHA-256 hash in base64url. */
export function isCodeChallenge (value: string): boolean {
  return /^[\w-]{43}$/.test(value)
}

/**
 * Whether the verifier is well-formed (RFC 7636 section 4.1), and its transformation is the challenge (section 4.6).
 * The challenge is not a secret: it was in the URL of the authorization request.
 */
export function verifies (verifier: string, challenge: string): boolean {
  return /^[\w.~-]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === challenge
}
