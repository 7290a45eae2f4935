import { randomBytes } from 'node:crypto'

/** What a code or token is where a server lets its host make it: 256 random bits. */
export function randomToken () {
  return randomBytes(32).toString('base64url')
}
