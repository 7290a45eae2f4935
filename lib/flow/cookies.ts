/** A cookie and the attributes that decide whether it is sent. */
export interface Cookie {
  name: string
  value: string
  /**
   * Empty: `Set-Cookie` has no Path. Absent: a person gave the cookie without it. Either is sent to
   * every path.
   */
  path?: string | undefined
  /** The host where `Set-Cookie` has no Domain. Absent in a cookie that a person gave. */
  domain?: string | undefined
  /**
   * In lower case. Empty: `Set-Cookie` has no SameSite. Absent: a person gave the cookie without
   * its attributes.
   */
  sameSite?: string | undefined
  secure: boolean
  httpOnly?: boolean
  expired?: boolean
}

/** Bytes of the longest name and value together that browsers keep (RFC 6265bis §5.6). */
const LONGEST = 4096

const ATTRIBUTES =
  /^\s*(?:path|domain|expires|max-age|samesite|secure|httponly|partitioned|priority)\s*(?:=|$)/i
const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether an address is https, or http on this machine. */
export const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'http:' || LOOPBACK.test(hostname)

/** Reads one `Set-Cookie` value (RFC 6265 §5.2). */
function parseSetCookie (line: string): Cookie {
  const [pair = '', ...rest] = line.split(';')
  const [name, value] = split(pair)
  const attributes = new Map(rest.map(split).map(([name, value]) => [name.toLowerCase(), value]))
  const path = attributes.get('path')
  const domain = attributes.get('domain')?.toLowerCase().replace(/^\./, '')
  return {
    name,
    value,
    path: path?.startsWith('/') === true ? path : undefined,
    domain: domain || undefined,
    sameSite: (attributes.get('samesite') ?? '').toLowerCase(),
    secure: attributes.has('secure'),
    httpOnly: attributes.has('httponly'),
    expired: isExpired(attributes)
  }
}

/**
 * Reads cookies as a person gives them: `a=1; b=2` as a browser sends it, a `Set-Cookie` value, or
 * a whole response as `curl -si` prints it.
 */
export function parseGiven (text: string): Cookie[] {
  const lines = [...text.matchAll(/^set-cookie:(.*)$/gim)].map(([, line]) => String(line))
  if (lines.length > 0) {
    return lines.map(parseSetCookie)
      .map((cookie) => ({ ...cookie, path: cookie.path ?? '' }))
      .reduce(keep, [])
  }
  const parts = text.split(';')
  const attributes = parts.filter((part) => ATTRIBUTES.test(part))
  const cookies = parts
    .filter((part) => !ATTRIBUTES.test(part))
    .map((pair) => parseSetCookie([pair, ...attributes].join(';')))
  // A cookie that a person gives is for the service, whatever its Domain.
  return cookies
    .map((cookie) => ({ ...cookie, domain: undefined }))
    .map((cookie) => attributes.length > 0 ? cookie : { ...cookie, sameSite: undefined })
    .filter(isKept)
}

const isKept = ({ name, expired }: Cookie): boolean => name !== '' && expired !== true

/**
 * RFC 6265 §5.3: a cookie replaces the one of the same name, domain and path; an expired one
 * removes it.
 */
function keep (cookies: Cookie[], cookie: Cookie): Cookie[] {
  const { name, domain, path } = cookie
  const isReplaced = (other: Cookie): boolean =>
    other.name === name && other.domain === domain && (other.path || '/') === (path || '/')
  return [...cookies.filter((other) => !isReplaced(other)), cookie].filter(isKept)
}

/** The cookies that a browser keeps for the application. */
export class CookieJar {
  #cookies: Cookie[]
  /** Why browsers refuse a cookie, by its name. */
  readonly refused = new Map<string, string>()

  constructor (given: Iterable<Cookie> = []) {
    this.#cookies = [...given]
  }

  /** Keeps, replaces or removes a cookie as the `Set-Cookie` line of a response says. */
  take (line: string, address: URL): void {
    const cookie = parseSetCookie(line)
    const { name, expired } = cookie
    const refusal = refusalOf(cookie, address)
    if (refusal !== null) {
      if (expired !== true) this.refused.set(name, refusal)
      return
    }
    const { domain = address.hostname, path = defaultPath(address.pathname) } = cookie
    // A cookie without a domain was given by a person. It is dropped where the service renews it. Where the service
    // removes it, as it does with one for a single sign-in, it is given again.
    const isRenewed = (other: Cookie): boolean =>
      expired !== true &&
      other.domain === undefined &&
      other.name === name &&
      (other.path || path) === path
    const others = this.#cookies.filter((other) => !isRenewed(other))
    this.#cookies = keep(others, { ...cookie, domain, path })
  }

  /**
   * The value of the `Cookie` header for an address of the application; empty when there is no
   * cookie to send.
   */
  header (address: URL): string {
    return this.#cookies
      .map(({ path = '/', ...cookie }) => ({ ...cookie, path }))
      .filter(({ path }) => isWithin(address.pathname, path))
      .filter(({ secure }) => !secure || isSecure(address))
      .sort((one, other) => other.path.length - one.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  all (): Cookie[] {
    return [...this.#cookies]
  }
}

/** Why browsers refuse a cookie (RFC 6265bis §5.7), or null. */
function refusalOf (
  { name, value, domain, path, secure, sameSite }: Cookie,
  address: URL
): string | null {
  const bytes = Buffer.byteLength(name + value)
  const isHost = /^__host-/i.test(name)
  const refusals: Array<[is: boolean, why: string]> = [
    [bytes > LONGEST, `it has ${bytes} bytes, and browsers keep ${LONGEST}`],
    [
      domain !== undefined && !isWithinDomain(address.hostname, domain),
      `its Domain is ${domain}, and the service is at ${address.hostname}`
    ],
    [isHost && (domain !== undefined || path !== '/'), '__Host- needs Path=/ and no Domain'],
    [
      (isHost || /^__secure-/i.test(name)) && !secure,
      'its name begins as that of a Secure cookie, which it is not'
    ],
    [secure && !isSecure(address), 'it is Secure, and the address is http'],
    [sameSite === 'none' && !secure, 'SameSite=None needs Secure']
  ]
  return refusals.find(([is]) => is)?.[1] ?? null
}

function split (part: string): [name: string, value: string] {
  const [name = '', ...value] = part.split('=')
  return [name.trim(), value.join('=').trim()]
}

/** RFC 6265 §5.3, step 3: Max-Age has precedence over Expires. */
function isExpired (attributes: Map<string, string>): boolean {
  const age = attributes.get('max-age')
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0
  return Date.parse(attributes.get('expires') ?? '') <= Date.now()
}

/** RFC 6265 §5.1.3. */
const isWithinDomain = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`)

/** RFC 6265 §5.1.4. */
const defaultPath = (requestPath: string): string =>
  requestPath.slice(0, requestPath.lastIndexOf('/')) || '/'

/** RFC 6265 §5.1.4. */
function isWithin (path: string, cookiePath: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}
