import { type PortalLevel } from '../portal.ts'

/** What a code, and the token it yields, stand for: this user at this portal. */
export interface Grant {
  /** `client_id` of the portal. */
  clientId: string
  /** The level of the portal, which the record was checked for. */
  level: PortalLevel
  /** S256 code_challenge that the code was asked for with (RFC 7636), or the empty string. */
  codeChallenge: string
  /** The partner application's identifier of the user. */
  externalId: string
  /** The user information record as JSON. It was checked once, and is passed on as it is. */
  record: string
}

/** The grant as text, one line each: the record is not written into JSON again, and not parsed before it is sent. */
export function encodeGrant ({ clientId, level, codeChallenge, record }: Grant): string {
  return `${clientId}\n${level}\n${codeChallenge}\n${record}`
}

/** Reverses `encodeGrant`. No line holds a line break: a client_id is visible ASCII, and JSON escapes them. */
export function decodeGrant (text: string): Grant {
  const [clientId, level, codeChallenge, record] = text.split('\n') as [string, PortalLevel, string, string]
  return { clientId, level, codeChallenge, externalId: externalIdOf(record), record }
}

/** The external_id is the first field of a checked record. */
function externalIdOf (record: string): string {
  const [, json] = /^\{"external_id":("(?:[^"\\]|\\.)+")/.exec(record) as unknown as [string, string]
  return JSON.parse(json) as string
}
