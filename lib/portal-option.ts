import { assertOption, flawOf, isVisibleAscii, kindOf, parseUrl, valueOf } from './assert-option.ts'

/** OAuth level of the integration, set at the portal (spec section 2.3): which users the service may supply. */
export type PortalLevel = 'partner' | 'client'

/** One portal environment, with the four values of spec section 1.5. */
export interface Portal {
  /** Absolute https or http URL where a sign-in starts at the portal. The error page links to it. */
  loginUrl: string
  /** The portal's OAuth client identifier: visible ASCII. Unique among the portals of one registration. */
  clientId: string
  /**
   * The portal's OAuth client secret: visible ASCII. Give an array while a secret is being rotated: each of them is
   * accepted, and the event `token_issued` tells by `secretIndex` which one was used.
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
  checkLoginUrl(loginUrl, `${name}.loginUrl`)
  assertOption(isVisibleAscii(clientId), `${name}.clientId`, VISIBLE, valueOf(clientId))
  checkSecrets(clientSecret, `${name}.clientSecret`)
  checkRedirectUri(redirectUri, `${name}.redirectUri`)
  assertOption(level === 'partner' || level === 'client', `${name}.level`, '"partner" or "client"', valueOf(level))
  return { loginUrl, clientId, clientSecret, redirectUri, level }
}

function checkSecrets (given: unknown, name: string): void {
  const secrets = [given].flat()
  const expected = `${VISIBLE}, or an array of them`
  assertOption(secrets.length > 0, name, expected, 'an empty array')
  for (const [index, secret] of secrets.entries()) {
    const flaw = flawOf(secret)
    assertOption(flaw === undefined, Array.isArray(given) ? `${name}[${index}]` : name, expected, String(flaw))
  }
}

function checkLoginUrl (value: unknown, name: string): void {
  const url = parseUrl(value)
  assertOption(url !== null && /^https?:/.test(url.protocol), name, 'an absolute https or http URL', valueOf(value))
  assertNoUserInformation(url, name)
}

// RFC 6749 section 3.1.2; http for loopback only: RFC 9700 section 2.6
function checkRedirectUri (value: string, name: string): void {
  const url = parseUrl(value)
  const isUrl = url !== null && /^https?:\/\/[^\s"<>\\^`{|}]+$/.test(value) && isVisibleAscii(value)
  assertOption(isUrl, name, 'an absolute URL in visible ASCII characters', valueOf(value))
  assertNoUserInformation(url, name)
  assertOption(url.protocol === 'https:' || isLoopback(url.hostname), name, 'https (http for loopback hosts only)',
    valueOf(value))
  assertOption(!value.includes('#'), name, 'a URL without fragment', valueOf(value))
  const hasOurs = ['code', 'state', 'error'].some((parameter) => url.searchParams.has(parameter))
  assertOption(!hasOurs, name, 'a URL without a code, state or error parameter', valueOf(value))
}

function assertNoUserInformation ({ username, password }: URL, name: string): void {
  assertOption(username === '' && password === '', name, 'a URL without user information', 'a URL that has some')
}

function isLoopback (hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
