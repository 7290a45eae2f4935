import cookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { Parameters, queryOf, safeInQuery } from './parameters.ts'

/** A request of any copy of Fastify, of Express or of Node: the login may be an Express app inside Fastify. */
export interface ReturningRequest {
  headers: { cookie?: string | undefined }
  url?: string | undefined
  /** The URL before the host has rewritten it. */
  originalUrl?: string | undefined
  /** Absent in Node. */
  protocol?: string | undefined
  socket?: object
}

interface NodeResponse {
  getHeader (name: string): unknown
  setHeader (name: string, value: string[]): unknown
}

interface Reply {
  getHeader (name: string): unknown
  removeHeader (name: string): unknown
  header (name: string, value: string[]): unknown
}

/** A reply of Fastify, or a response of Node. */
export type ReturningReply = NodeResponse | Reply

/** What @fastify/cookie adds to an app. */
interface Cookies {
  parseCookie (header: string): Record<string, string | undefined>
  serializeCookie (name: string, value: string, attributes: object): string
}

const NAME = 'partner-sso-return'
/** Over https. Browsers let no other host set a cookie of such a name (RFC 6265bis section 4.1.3.2). */
const HOST_NAME = `__Host-${NAME}`
/** Seconds that a user may take for the login. */
const LIFETIME = 600

const OWN_COOKIE = new RegExp(`^\\s*(?:__Host-)?${NAME}\\s*=`)

/**
 * The plugin's own cookies of a Cookie header. @fastify/cookie decodes each value, and an invalid one throws inside it:
 * a header full of those would cost many times a usual one.
 */
function ownCookies (header = ''): string {
  return header.split(';').filter((cookie) => OWN_COOKIE.test(cookie)).join(';')
}

/** The path of an authorization endpoint, as browsers send it. In Fastify's router `::` is a colon. */
export function authorizePath (prefix: string): string {
  const path = `${prefix.replace(/\/$/, '').replaceAll('::', ':')}/oauth/authorize`
  // After two slashes browsers read a host.
  return encodeURI(path.replace(/^\/+/, '/'))
}

/** Most bytes of a cookie's name and value that browsers keep (RFC 6265bis section 5.6). */
const COOKIE_LIMIT = 4096

/**
 * The cookie that remembers a request to the authorization endpoint of one registration until its user has logged in.
 */
export class ReturnCookie {
  /** The path of the authorization endpoint. */
  readonly path: string
  readonly #cookies: Cookies

  constructor (path: string, cookies: Cookies) {
    this.path = path
    this.#cookies = cookies
  }

  /** Remembers the URL of an authorization request, in place of an earlier one, where a cookie has room for it. */
  remember (request: ReturningRequest, reply: ReturningReply, url: string): void {
    const name = isSecure(request) ? HOST_NAME : NAME
    // Browsers count the encoded value.
    if (name.length + encodeURIComponent(url).length <= COOKIE_LIMIT) this.#write(reply, name, url, LIFETIME)
    else this.take(request, reply)
  }

  /** Removes the cookie, and returns the URL that it has, or null. A cookie of another registration stays. */
  take (request: ReturningRequest, reply: ReturningReply): string | null {
    const cookies = this.#cookies.parseCookie(ownCookies(request.headers.cookie))
    let remembered: string | null = null
    for (const name of isSecure(request) ? [HOST_NAME] : [HOST_NAME, NAME]) {
      const url = this.#ownUrl(cookies[name])
      if (url === null) continue
      remembered ??= url
      this.#write(reply, name, '', 0)
    }
    return remembered
  }

  /**
   * The URL to send the browser to after the login, and null where the login began elsewhere: `return_to` of this
   * request, which differs between the tabs of a browser, or else the URL in the cookie. Removes the cookie.
   */
  returnUrl (request: ReturningRequest, reply: ReturningReply): string | null {
    const remembered = this.take(request, reply)
    const returnTo = new Parameters(queryOf(request.originalUrl ?? request.url ?? '')).get('return_to')
    return returnTo === undefined ? remembered : this.#ownUrl(returnTo)
  }

  /** The URL, if its path is that of the endpoint. Its query may be anything, and is escaped: it goes into a header. */
  #ownUrl (url: string | undefined): string | null {
    return url?.startsWith(`${this.path}?`) ? `${this.path}?${safeInQuery(queryOf(url))}` : null
  }

  #write (reply: ReturningReply, name: string, value: string, maxAge: number): void {
    const attributes = { path: '/', httpOnly: true, sameSite: 'lax', maxAge, secure: name === HOST_NAME }
    addCookie(reply, this.#cookies.serializeCookie(name, value, attributes))
  }
}

/** Registers @fastify/cookie, unless the host has done so: its functions work once it is registered. */
export async function registerCookies (app: FastifyInstance): Promise<void> {
  if (!app.hasDecorator('parseCookie')) await app.register(cookie, { hook: false })
}

/**
 * Whether the request came over https. Fastify and Express know it as their `trustProxy` tells. Where a proxy is not
 * trusted it is not known, and both names are read: only a request over https has the first one.
 */
function isSecure ({ protocol, socket }: ReturningRequest): boolean {
  if (protocol !== undefined) return protocol === 'https'
  return (socket as { encrypted?: boolean } | undefined)?.encrypted === true
}

/** Adds a Set-Cookie header to those of the host, also to what middleware has set on the response of Node. */
function addCookie (reply: ReturningReply, cookie: string): void {
  const cookies = [reply.getHeader('set-cookie') ?? [], cookie].flat() as string[]
  if ('setHeader' in reply) {
    reply.setHeader('set-cookie', cookies)
    return
  }
  // Fastify would append them to the present ones.
  reply.removeHeader('set-cookie')
  reply.header('set-cookie', cookies)
}
