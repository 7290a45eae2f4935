import { assertOption, isVisibleAscii, kindOf } from '../assert.ts'
import { isLoopback } from '../loopback.ts'

/**
 * OAuth level of an integration, as it is set at the portal. It says who may enter: at the level `partner` users of the
 * partner and users of its clients, at the level `client` users of its clients only.
 */
export type PortalLevel = 'partner' | 'client'

/**
 * One environment of the portal (test, live): the four values that the portal gives you, and the level that is set
 * there. The portal is the client of RFC 6749 section 2.
 */
export interface Portal {
  /**
   * The URL at the portal where a sign-in starts: absolute, `https` or `http`, visible ASCII characters, without user
   * information. The error page links to it, and your own pages can.
   */
  loginUrl: string

  /**
   * Client identifier of the portal (RFC 6749 section 2.2): visible ASCII characters. Two portals of one registration
   * cannot have the same.
   */
  clientId: string

  /**
   * Client secret of the portal (RFC 6749 section 2.3.1): visible ASCII characters. It is a key: whoever has a token
   * can guess a short one offline, so below 22 characters (128 random bits, RFC 6749 section 10.10) there is a warning
   * at the start.
   *
   * Give an array while a secret is replaced by another: each of them is accepted, and the event `token_issued` has the
   * index of the secret that was used.
   */
  clientSecret: string | string[]

  /**
   * The callback URL of the portal (RFC 6749 section 3.1.2): absolute, visible ASCII characters, `https` (`http` for
   * loopback hosts only), without fragment, user information, and parameters named `code`, `state` or `error`. Requests
   * must have exactly this string (RFC 9700 section 2.1).
   */
  redirectUri: string

  /**
   * The OAuth level that is set at the portal.
   *
   * @default 'partner'
   */
  level?: PortalLevel | undefined
}

const VISIBLE = 'a non-empty string of visible ASCII characters and spaces'

/**
 * Checks a portal, which comes from the option or from the host's function.
 *
 * @param given - anything
 * @param name - the option, as the error names it
 * @returns a copy that has the known fields only, because a row of a table may have more
 * @throws `OptionInvalid`, which repeats no secret
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
  for (const [index, secret] of given.entries()) {
    assertOption(isVisibleAscii(secret), `${name}[${index}]`, VISIBLE, kindOf(secret))
  }
}

/**
 * Checks a redirect_uri by RFC 6749 section 3.1.2. A scheme other than https is for loopback hosts only (RFC 9700
 * section 2.6).
 */
function assertRedirectUri (value: string, name: string): void {
  const { protocol, hostname, searchParams } = assertUrl(value, name)
  const given = JSON.stringify(value)
  const isSecure = protocol === 'https:' || isLoopback(hostname)
  assertOption(isSecure, name, 'https (http for loopback hosts only)', given)
  assertOption(!value.includes('#'), name, 'a URL without fragment', given)
  const hasOurs = ['code', 'state', 'error'].some((parameter) => searchParams.has(parameter))
  assertOption(!hasOurs, name, 'a URL without a code, state or error parameter', given)
}

// An http or https URL without user information, of the characters of a URI (RFC 3986 section 2).
const ABSOLUTE = /^https?:\/\/(?![^/?#]*@)[!#-;=?-[\]_a-z~]+$/

/** Checks a URL. It must be text, because a URL object has normalized it, and a redirect_uri is compared exactly. */
function assertUrl (value: unknown, name: string): URL {
  const isUrl = typeof value === 'string' && ABSOLUTE.test(value) && URL.canParse(value)
  assertOption(isUrl, name, 'an absolute https or http URL of visible ASCII characters, without user information',
    kindOf(value))
  return new URL(value as string)
}
