/** A cookie and the attributes that decide whether it is sent. */
export interface Cookie {
  name: string
  value: string
  path: string
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

/** Reads one `Set-Cookie` value (RFC 6265 §5.2); null when it has no name or removes the cookie. */
export function parseSetCookie (line: string, requestPath = '/'): Cookie | null {
  const [pair = '', ...rest] = line.split(';').map((part) => part.trim())
  const attributes = new Map(rest.map((part) => split(part)).map(([name, value]) => [name.toLowerCase(), value]))
  const [name, value] = split(pair)
  if (name === '' || expired(attributes)) return null
  const path = attributes.get('path')
  const sameSite = attributes.get('samesite')?.toLowerCase()
  return {
    name,
    value,
    path: path?.startsWith('/') === true ? path : defaultPath(requestPath),
    secure: attributes.has('secure'),
    ...(sameSite === undefined ? {} : { sameSite })
  }
}

/** Reads cookies as a person gives them: `a=1; b=2` as a browser sends it, or a whole `Set-Cookie` value. */
export function parseGiven (text: string): Cookie[] {
  const parts = text.split(';').map((part) => part.trim())
  const attributes = parts.filter((part) => ATTRIBUTES.has(split(part)[0].toLowerCase()))
  const pairs = parts.filter((part) => !attributes.includes(part))
  return pairs.flatMap((pair) => parseSetCookie([pair, ...attributes].join(';')) ?? [])
}

/** The cookies that a browser keeps for the partner's application during one sign-in. */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>()

  constructor (given: Iterable<Cookie> = []) {
    for (const cookie of given) this.#cookies.set(cookie.name, cookie)
  }

  /** Keeps, replaces or removes a cookie as the `Set-Cookie` line says. */
  take (line: string, requestPath: string): void {
    const cookie = parseSetCookie(line, requestPath)
    const name = split(line.split(';')[0] as string)[0].trim()
    if (cookie === null) this.#cookies.delete(name)
    else this.#cookies.set(name, cookie)
  }

  /** The value of the `Cookie` header for an address of the application; empty when there is none to send. */
  header (address: URL): string {
    return this.all()
      .filter(({ path, secure }) => within(address.pathname, path) && (!secure || isSecure(address)))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  all (): Cookie[] {
    return [...this.#cookies.values()]
  }
}

function split (part: string): [name: string, value: string] {
  const at = part.indexOf('=')
  return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
}

/** RFC 6265 §5.3, step 3: Max-Age goes before Expires. */
function expired (attributes: Map<string, string>): boolean {
  const age = attributes.get('max-age')
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0
  return Date.parse(attributes.get('expires') ?? '') <= Date.now()
}

/** RFC 6265 §5.1.4. */
function defaultPath (requestPath: string): string {
  return requestPath.slice(0, requestPath.lastIndexOf('/')) || '/'
}

/** RFC 6265 §5.1.4. */
function within (path: string, cookiePath: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}
