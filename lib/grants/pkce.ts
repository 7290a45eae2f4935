import { hash, timingSafeEqual } from 'node:crypto'

// RFC 7636 section 4.2: BASE64URL of a SHA-256 hash, that is 43 characters.
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
// RFC 7636 section 4.1
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** Whether the value can be an S256 code_challenge (RFC 7636 section 4.2). */
export function isCodeChallenge (value: string): boolean {
  return CHALLENGE.test(value)
}

/** Whether the verifier is well-formed and its S256 transformation is the challenge (RFC 7636 section 4.6). */
export function verifies (verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false
  const computed = hash('sha256', verifier, 'base64url')
  return timingSafeEqual(Buffer.from(computed), Buffer.from(challenge))
}
