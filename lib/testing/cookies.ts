/** A cookie and the attributes that decide whether it is sent. */
export interface Cookie {
  name: string
  value: string
  /** Absent where the person who gave the cookie did not say it: then it is sent to every path. */
  path?: string
  /** The host without this attribute. */
  domain?: string
  /** As the service wrote it, in lower case; absent where it said nothing. */
  sameSite?: string
  secure: boolean
}

const ATTRIBUTES = new Set([
  'path', 'domain', 'expires', 'max-age', 'samesite', 'secure', 'httponly', 'partitioned', 'priority'
])
const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether an address is https, or http on this machine. */
export const isSecure = ({ protocol, hostname }: URL): boolean => protocol !== 'http:' || LOOPBACK.test(hostname)

interface SetCookie { cookie: Cookie, expired: boolean }

/** Reads one `Set-Cookie` value (RFC 6265 §5.2); null when it has no name. */
function parseSetCookie (line: string): SetCookie | null {
  const [pair = '', ...rest] = line.split(';').map((part) => part.trim())
  const attributes = new Map(rest.map(split).map(([name, value]) => [name.toLowerCase(), value]))
  const [name, value] = split(pair)
  if (name === '') return null
  const text = (attribute: string) => attributes.get(attribute)?.toLowerCase()
  const path = attributes.get('path')
  const cookie = {
    name,
    value,
    secure: attributes.has('secure'),
    ...path?.startsWith('/') === true ? { path } : {},
    ...text('domain') ? { domain: String(text('domain')).replace(/^\./, '') } : {},
    ...attributes.has('samesite') ? { sameSite: String(text('samesite')) } : {}
  }
  return { cookie, expired: isExpired(attributes) }
}

/**
 * Reads cookies as a person gives them: `a=1; b=2` as a browser sends it, a `Set-Cookie` value, or a whole response as
 * `curl -si` prints it.
 */
export function parseGiven (text: string): Cookie[] {
  const lines = [...text.matchAll(/^set-cookie:\s*(.*)$/gim)].map(([, line]) => String(line))
  if (lines.length > 0) return lines.flatMap(kept)
  const parts = text.split(';').map((part) => part.trim())
  const attributes = parts.filter((part) => ATTRIBUTES.has(split(part)[0].toLowerCase()))
  const pairs = parts.filter((part) => !attributes.includes(part))
  // Where a person's cookie belongs is known: to the service.
  return pairs.flatMap((pair) => kept([pair, ...attributes].join(';'))).map(({ domain, ...cookie }) => cookie)
}

function kept (line: string): Cookie[] {
  const read = parseSetCookie(line)
  return read === null || read.expired ? [] : [read.cookie]
}

/** The cookies that a browser keeps for the application: one for each name, domain and path (RFC 6265 §5.3). */
export class CookieJar {
  #cookies: Cookie[]

  constructor (given: Iterable<Cookie> = []) {
    this.#cookies = [...given]
  }

  /** Keeps, replaces or removes a cookie as the `Set-Cookie` line of a response says. */
  take (line: string, { hostname, pathname }: URL): void {
    const read = parseSetCookie(line)
    if (read === null) return
    const cookie = { domain: hostname, path: defaultPath(pathname), ...read.cookie }
    if (!isWithinDomain(hostname, cookie.domain)) return
    // The one that a person gave is this one, before it was renewed.
    this.#cookies = this.#cookies.filter(({ name, domain = cookie.domain, path = cookie.path }) =>
      name !== cookie.name || domain !== cookie.domain || path !== cookie.path)
    if (!read.expired) this.#cookies.push(cookie)
  }

  /** The value of the `Cookie` header for an address of the application; empty when there is none to send. */
  header (address: URL): string {
    return this.#cookies
      .filter(({ path = '/', secure }) => isWithin(address.pathname, path) && (!secure || isSecure(address)))
      .sort((one, other) => (other.path ?? '/').length - (one.path ?? '/').length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  all (): Cookie[] {
    return [...this.#cookies]
  }
}

function split (part: string): [name: string, value: string] {
  const at = part.indexOf('=')
  return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
}

/** RFC 6265 §5.3, step 3: Max-Age goes before Expires. */
function isExpired (attributes: Map<string, string>): boolean {
  const age = attributes.get('max-age')
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0
  return Date.parse(attributes.get('expires') ?? '') <= Date.now()
}

/** RFC 6265 §5.1.3. */
const isWithinDomain = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

/** RFC 6265 §5.1.4. */
const defaultPath = (requestPath: string): string => requestPath.slice(0, requestPath.lastIndexOf('/')) || '/'

/** RFC 6265 §5.1.4. */
function isWithin (path: string, cookiePath: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}
