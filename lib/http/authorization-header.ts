import { type IncomingMessage } from 'node:http'

/**
 * Whether the Authorization header came more than once. Node keeps the first one and says nothing; a gateway in front
 * may have looked at another (RFC 9110 section 5.3: a sender MUST NOT; RFC 6749 section 2.3: one method a request).
 */
export function isAuthorizationRepeated ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let found = false
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!isAuthorization(rawHeaders[index] as string)) continue
    if (found) return true
    found = true
  }
  return false
}

function isAuthorization (name: string): boolean {
  return name.length === 'authorization'.length && name.toLowerCase() === 'authorization'
}
