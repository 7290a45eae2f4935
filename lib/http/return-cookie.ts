import { parseCookie, stringifySetCookie } from 'cookie'
import { Parameters, queryOf, safeInQuery } from './parameters.ts'

/** A request of any copy of Fastify, or of Node: the login may be an Express app inside Fastify. */
export interface ReturningRequest {
  headers: { cookie?: string | undefined }
  url?: string | undefined
  /** The URL before the host has rewritten it. */
  originalUrl?: string | undefined
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

const NAME = 'partner-sso-return'
const ATTRIBUTES = { path: '/', httpOnly: true, sameSite: 'lax' } as const
const REMOVAL = stringifySetCookie({ name: NAME, value: '', ...ATTRIBUTES, maxAge: 0 })
/** Seconds that a user may take for the login. */
const LIFETIME = 600
/** Bytes of a cookie with its attributes that every browser accepts (RFC 6265 section 6.1). */
const MOST_BYTES = 4096

/** The path of an authorization endpoint, as browsers send it. In Fastify's router `::` is a colon. */
export function authorizePath (prefix: string): string {
  return encodeURI(prefix.replace(/\/$/, '').replaceAll('::', ':')) + '/oauth/authorize'
}

/**
 * Remembers the authorization request in a cookie, until its user has logged in. A URL that is too long for a cookie
 * removes the one that may be there: it would lead back to an earlier request.
 */
export function rememberRequest (
  request: ReturningRequest & { originalUrl: string, protocol: string }, reply: ReturningReply, path: string
): void {
  const cookie = stringifySetCookie({
    name: NAME,
    value: `${path}?${queryOf(request.originalUrl)}`,
    ...ATTRIBUTES,
    maxAge: LIFETIME,
    secure: request.protocol === 'https'
  })
  addCookie(reply, cookie.length > MOST_BYTES ? REMOVAL : cookie)
}

/** Removes the cookie of a request to one of these paths. Returns the URL of that request, or null. */
export function forgetRequest (
  { headers }: ReturningRequest, reply: ReturningReply, paths: readonly string[]
): string | null {
  const remembered = ownUrl(parseCookie(headers.cookie ?? '')[NAME], paths)
  if (remembered !== null) addCookie(reply, REMOVAL)
  return remembered
}

/**
 * The URL to send the browser to after the login: `return_to` of this request, which differs between the tabs of a
 * browser, or else the URL in the cookie. Null when neither is a URL of one of these paths.
 */
export function returnUrl (
  request: ReturningRequest, reply: ReturningReply, paths: readonly string[]
): string | null {
  const remembered = forgetRequest(request, reply, paths)
  const query = new Parameters(queryOf(request.originalUrl ?? request.url ?? ''))
  return ownUrl(query.get('return_to'), paths) ?? remembered
}

/** The URL, if its path is one of these exactly. Its query may be anything, and is escaped: it ends up in a header. */
function ownUrl (url: string | undefined, paths: readonly string[]): string | null {
  const path = paths.find((path) => url?.startsWith(`${path}?`))
  return url === undefined || path === undefined ? null : `${path}?${safeInQuery(queryOf(url))}`
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
