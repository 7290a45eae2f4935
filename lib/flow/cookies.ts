import { isLoopback } from '../loopback.ts'

/** A cookie and the attributes that decide whether it is sent. */
export interface Cookie {
  name: string
  value: string
  /** Absent in a cookie that a person gave without it: it is sent to every path. */
  path?: string | undefined
  /** The host where `Set-Cookie` has no Domain. Absent in a cookie that a person gave. */
  domain?: string | undefined
  /**
   * In lower case. Empty: `Set-Cookie` has no SameSite. Absent: a person gave the cookie without
   * its attributes.
   */
  sameSite?: string | undefined
  secure: boolean
  httpOnly: boolean
  /** Seconds that it lasts. Absent: until the browser is closed. */
  lifetime?: number | undefined
  expired: boolean
}

/** Bytes of the longest name and value together that browsers keep (RFC 6265bis section 5.6). */
const LONGEST = 4096

const ATTRIBUTES =
  /^\s*(?:path|domain|expires|max-age|samesite|secure|httponly|partitioned|priority)\s*(?:=|$)/i

/** Whether an address is https, or http on this machine. */
export const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'http:' || isLoopback(hostname)

/** Reads one `Set-Cookie` value (RFC 6265 section 5.2). */
function parseSetCookie (line: string): Cookie {
  const [pair = '', ...rest] = line.split(';')
  const [name, value] = split(pair)
  const attributes = new Map(rest
    .map(split)
    .map(([name, value]) => [name.toLowerCase(), value]))
  const textOf = (name: string): string =>
    attributes.get(name)?.toLowerCase() ?? ''
  const lifetime = lifetimeOf(textOf('max-age'), textOf('expires'))
  return {
    name,
    value,
    path: attributes.get('path')?.match(/^\/.*/)?.[0],
    domain: textOf('domain').replace(/^\./, '') || undefined,
    sameSite: textOf('samesite'),
    secure: attributes.has('secure'),
    httpOnly: attributes.has('httponly'),
    lifetime,
    expired: lifetime !== undefined && lifetime <= 0
  }
}

/** RFC 6265 section 5.3, step 3: Max-Age has precedence over Expires. */
function lifetimeOf (maxAge: string, expires: string): number | undefined {
  const seconds = [parseInt(maxAge), (Date.parse(expires) - Date.now()) / 1000]
  return seconds.find((one) => !Number.isNaN(one))
}

function split (part: string): [name: string, value: string] {
  const [name = '', ...value] = part.split('=')
  return [name.trim(), value.join('=').trim()]
}

/**
 * Reads cookies as a person gives them: `a=1; b=2` as a browser sends it, a `Set-Cookie` value, or
 * a whole response as `curl -si` prints it.
 */
export function parseGiven (text: string): Cookie[] {
  const lines = text.match(/(?<=^set-cookie:).*/gim)
  const cookies = lines?.map(parseSetCookie) ?? parsePairs(text)
  // They are for the service, whatever their Domain.
  return cookies
    .map((cookie) => ({ ...cookie, domain: undefined }))
    .reduce(keep, [])
}

/** Names and values, and perhaps the attributes of all of them. */
function parsePairs (text: string): Cookie[] {
  const parts = text.split(';')
  const attributes = parts.filter((part) => ATTRIBUTES.test(part))
  return parts
    .filter((part) => !ATTRIBUTES.test(part))
    .map((pair) => parseSetCookie([pair, ...attributes].join(';')))
    .map((cookie) => attributes.length > 0 ? cookie : { ...cookie, sameSite: undefined })
}

/**
 * RFC 6265 section 5.3: a cookie replaces the one of the same name, domain and path; an expired one
 * removes it.
 */
function keep (cookies: Cookie[], cookie: Cookie): Cookie[] {
  const others = cookies.filter((other) =>
    other.name !== cookie.name ||
    other.domain !== cookie.domain ||
    other.path !== cookie.path)
  return cookie.name === '' || cookie.expired ? others : [...others, cookie]
}

/** The cookies that a browser keeps for the application. */
export class CookieJar {
  #cookies: Cookie[]
  /** Why browsers refuse a cookie, by its name. */
  readonly refused = new Map<string, string>()

  constructor (given: Cookie[] = []) {
    this.#cookies = given
  }

  /** Keeps, replaces or removes a cookie as the `Set-Cookie` line of a response says. */
  take (line: string, address: URL): void {
    const cookie = parseSetCookie(line)
    const {
      name,
      expired,
      domain = address.hostname,
      path = defaultPath(address.pathname)
    } = cookie
    const refusal = refusalOf(cookie, address)
    if (refusal === null) {
      // One that a person gave is dropped where the service renews it. Where the service removes it, as it does
      // with one for a single sign-in, it is given again.
      const others = this.#cookies.filter((other) =>
        expired ||
        other.domain !== undefined ||
        other.name !== name)
      this.#cookies = keep(others, { ...cookie, domain, path })
    } else if (!expired) {
      this.refused.set(name, refusal)
    }
  }

  /**
   * The value of the `Cookie` header for an address of the application; empty when there is no
   * cookie to send.
   */
  header (address: URL): string {
    return this.#cookies
      .filter(({ path = '/' }) => isWithin(address.pathname, path))
      .filter(({ secure }) => !secure || isSecure(address))
      .sort(({ path: one = '/' }, { path: other = '/' }) =>
        other.length - one.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  all (): Cookie[] {
    return this.#cookies
  }
}

/** Why browsers refuse a cookie (RFC 6265bis section 5.7), or null. */
function refusalOf (cookie: Cookie, address: URL): string | null {
  const { name, value, domain, path, secure, sameSite } = cookie
  const { hostname } = address
  const bytes = Buffer.byteLength(name + value)
  const refusals: Array<[is: boolean, why: string]> = [
    [bytes > LONGEST, `it has ${bytes} bytes, and browsers keep ${LONGEST}`],
    [
      !`.${hostname}`.endsWith(`.${domain ?? hostname}`),
      `its Domain is ${domain}, and the service is at ${hostname}`
    ],
    [
      /^__host-/i.test(name) && (domain !== undefined || path !== '/'),
      '__Host- needs Path=/ and no Domain'
    ],
    [
      /^__(?:host|secure)-/i.test(name) && !secure,
      'its name begins as that of a Secure cookie, which it is not'
    ],
    [secure && !isSecure(address), 'it is Secure, and the address is http'],
    [sameSite === 'none' && !secure, 'SameSite=None needs Secure']
  ]
  return refusals.find(([is]) => is)?.[1] ?? null
}

/** RFC 6265 section 5.1.4. */
const defaultPath = (requestPath: string): string =>
  requestPath.slice(0, requestPath.lastIndexOf('/')) || '/'

/** RFC 6265 section 5.1.4. */
const isWithin = (path: string, cookiePath: string): boolean =>
  path === cookiePath || path.startsWith(cookiePath.replace(/\/?$/, '/'))
