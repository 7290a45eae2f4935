import { formDecode } from './parameters.ts'

/** What each part of HTTP Basic may mean: form-decoded, then as it was sent. */
export type BasicCredentials = Record<'clientId' | 'clientSecret', string[]>

// RFC 6750 section 2.1: b64token
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/**
 * The credentials of HTTP Basic (RFC 7617 section 2). Both parts should be form-encoded (RFC 6749 section 2.3.1), which
 * most client libraries do not do. Undefined when the request does not use Basic, null when the header is malformed.
 */
export function basicCredentials (authorization = ''): BasicCredentials | null | undefined {
  const [basic, encoded = ''] = /^basic(?: +(.*))?$/i.exec(authorization) ?? []
  if (basic === undefined) return undefined
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon === -1) return null
  return { clientId: readings(text.slice(0, colon)), clientSecret: readings(text.slice(colon + 1)) }
}

function readings (sent: string): string[] {
  return [formDecode(sent), sent]
}

/** The Bearer token (RFC 6750 section 2.1). Undefined when the request does not use Bearer, null when malformed. */
export function bearerToken (authorization = ''): string | null | undefined {
  if (!/^bearer(?: |$)/i.test(authorization)) return undefined
  return BEARER.exec(authorization)?.[1] ?? null
}

/**
 * Whether the request has more than one Authorization header. Node keeps the first one; a gateway in front may have
 * checked another (RFC 9110 section 5.3: a sender MUST NOT repeat it; RFC 6749 section 2.3: one method a request).
 */
export function isAuthorizationRepeated (rawHeaders: string[]): boolean {
  const isName = (text: string, index: number): boolean => index % 2 === 0 && text.toLowerCase() === 'authorization'
  return rawHeaders.filter(isName).length > 1
}
