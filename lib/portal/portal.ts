import { assertOption, isVisibleAscii, kindOf } from '../assert.ts'
import { isLoopback } from '../loopback.ts'

/** OAuth level of the integration, set at the portal: which users the service may supply. */
export type PortalLevel = 'partner' | 'client'

/** One portal environment, with the four values that the portal gives you. */
export interface Portal {
  /** Absolute https or http URL, ASCII, where a sign-in starts at the portal. The error page links to it. */
  loginUrl: string
  /** The portal's OAuth client identifier: visible ASCII. Unique among the portals of one registration. */
  clientId: string
  /**
   * The portal's OAuth client secret: visible ASCII. It is a key: below 22 characters a warning at start (RFC 6749
   * section 10.10: 128 bits). Give an array while a secret is being rotated: each of them is accepted, and
   * `secretIndex` in the event `token_issued` is the index of the one that was used.
   */
  clientSecret: string | string[]
  /**
   * The portal's callback URL: absolute, ASCII, https (http for loopback hosts only), with no fragment, no user
   * information and no `code`, `state` or `error` parameter. Compared character by character (RFC 9700 section 2.1).
   */
  redirectUri: string
  /**
   * OAuth level set at the portal: `partner` supplies partner and client users, `client` client users only.
   * @default 'partner'
   */
  level?: PortalLevel | undefined
}

const VISIBLE = 'a non-empty string of visible ASCII characters and spaces'

/**
 * Checks one portal, from the option or from the host's function, and returns a copy with the known fields only: a row
 * of a table may have more. `name` is the option's name in errors. No error repeats a secret.
 */
export function checkPortal (given: unknown, name: string): Portal {
  assertOption(typeof given === 'object' && given !== null && !Array.isArray(given), name,
    'an object with the values of a portal', kindOf(given))
  const { loginUrl, clientId, clientSecret, redirectUri, level = 'partner' } = given as Portal
  assertUrl(loginUrl, `${name}.loginUrl`)
  assertOption(isVisibleAscii(clientId), `${name}.clientId`, VISIBLE, kindOf(clientId))
  assertSecrets(clientSecret, `${name}.clientSecret`)
  assertRedirectUri(redirectUri, `${name}.redirectUri`)
  assertOption(level === 'partner' || level === 'client', `${name}.level`, '"partner" or "client"', kindOf(level))
  return { loginUrl, clientId, clientSecret, redirectUri, level }
}

function assertSecrets (given: unknown, name: string): void {
  const expected = `${VISIBLE}, or an array of them`
  if (!Array.isArray(given)) return assertOption(isVisibleAscii(given), name, expected, kindOf(given))
  assertOption(given.length > 0, name, expected, kindOf(given))
  given.forEach((secret, index) => assertSecrets(secret, `${name}[${index}]`))
}

// RFC 6749 section 3.1.2; http for loopback only: RFC 9700 section 2.6
function assertRedirectUri (value: string, name: string): void {
  const { protocol, hostname, searchParams } = assertUrl(value, name)
  const given = JSON.stringify(value)
  const isSecure = protocol === 'https:' || isLoopback(hostname)
  assertOption(isSecure, name, 'https (http for loopback hosts only)', given)
  assertOption(!value.includes('#'), name, 'a URL without fragment', given)
  const hasOurs = ['code', 'state', 'error'].some((parameter) => searchParams.has(parameter))
  assertOption(!hasOurs, name, 'a URL without a code, state or error parameter', given)
}

// No user information, and the characters of a URI (RFC 3986 section 2).
const ABSOLUTE = /^https?:\/\/(?![^/?#]*@)[!#-;=?-[\]_a-z~]+$/

/** URL objects are rejected: they normalize. */
function assertUrl (value: unknown, name: string): URL {
  const isUrl = typeof value === 'string' && ABSOLUTE.test(value) && URL.canParse(value)
  assertOption(isUrl, name, 'an absolute https or http URL of visible ASCII characters, without user information',
    kindOf(value))
  return new URL(value as string)
}
