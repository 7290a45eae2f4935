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

/** The path of an authorization endpoint, as browsers send it. In Fastify's router `::` is a colon. */
export function authorizePath (prefix: string): string {
  const path = `${prefix.replace(/\/$/, '').replaceAll('::', ':')}/oauth/authorize`
  // After two slashes browsers read a host.
  return encodeURI(path.replace(/^\/+/, '/'))
}

export type ReturnCookie = ReturnType<typeof returnCookieAt>

/**
 * Reads and writes the cookie that remembers a request to the authorization endpoint with this path until its user has
 * logged in.
 */
export function returnCookieAt (path: string, { parseCookie, serializeCookie }: Cookies) {
  return {
    path,

    /** Remembers the URL of an authorization request. */
    remember (request: ReturningRequest, reply: ReturningReply, url: string): void {
      write(reply, isSecure(request) ? HOST_NAME : NAME, url, LIFETIME)
    },

    forget,

    /**
     * The URL to send the browser to after the login, and null where the login began elsewhere: `return_to` of this
     * request, which differs between the tabs of a browser, or else the URL in the cookie. Removes the cookie.
     */
    returnUrl (request: ReturningRequest, reply: ReturningReply): string | null {
      const remembered = forget(request, reply)
      const returnTo = new Parameters(queryOf(request.originalUrl ?? request.url ?? '')).get('return_to')
      return returnTo === undefined ? remembered : ownUrl(returnTo)
    }
  }

  /** Removes the cookie. Returns the URL that it has, or null. A cookie of another endpoint stays. */
  function forget (request: ReturningRequest, reply: ReturningReply): string | null {
    const cookies = parseCookie(request.headers.cookie ?? '')
    let remembered: string | null = null
    for (const name of isSecure(request) ? [HOST_NAME] : [HOST_NAME, NAME]) {
      const url = ownUrl(cookies[name])
      if (url === null) continue
      remembered ??= url
      write(reply, name, '', 0)
    }
    return remembered
  }

  /** The URL, if its path is that of the endpoint. Its query may be anything, and is escaped: it goes into a header. */
  function ownUrl (url: string | undefined): string | null {
    return url?.startsWith(`${path}?`) ? `${path}?${safeInQuery(queryOf(url))}` : null
  }

  function write (reply: ReturningReply, name: string, value: string, maxAge: number): void {
    const attributes = { path: '/', httpOnly: true, sameSite: 'lax', maxAge, secure: name === HOST_NAME }
    addCookie(reply, serializeCookie(name, value, attributes))
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
