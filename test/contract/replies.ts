// What every response of the three routes is like.
import type { Test } from 'tap'
import type { WireResponse } from '../wire.ts'

/** What a browser accepts. */
export const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }

/** The error_description of RFC 6749 section 5.2: ASCII without quote and backslash. */
export const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** What the plugin itself sends says so in a header, with the public error that body or Location have. */
export function isSigned (t: Test, { headers, text, redirect, request }: WireResponse): void {
  const body = text.startsWith('{') ? JSON.parse(text) : {}
  const sent: Record<string, string> = headers.has('location') ? Object.fromEntries(redirect) : body
  const { error, error_description: description } = sent
  const parameters = error === undefined ? '' : `; error="${error}"; error_description="${description}"`
  t.equal(headers.get('partner-sso'), `fastify-partner-sso${parameters}`, request)
}

/** A JSON response, to the letter when a body is given. */
export function isJson (t: Test, response: WireResponse, status: number, body?: unknown): void {
  const text = body === undefined ? response.text : JSON.stringify(body)
  t.strictSame([response.status, response.text], [status, text], response.request)
  isPrivate(t, response, { 'content-type': 'application/json; charset=utf-8' })
  isSigned(t, response)
  saysWhatToDo(t, response)
}

/** A refusal in JSON, to the letter. */
export function isRefused (t: Test, response: WireResponse, status: number, error: string, description: string): void {
  isJson(t, response, status, { error, error_description: description })
}

/** A refusal in JSON. */
export function refuses (t: Test, response: WireResponse, status: number, error: string, message = error): void {
  t.strictSame([response.status, response.json.error], [status, error], `${message}: ${response.request}`)
  isPrivate(t, response)
  saysWhatToDo(t, response)
}

/** A refusal without a body. */
export function isEmpty (t: Test, response: WireResponse, status: number): void {
  t.strictSame([response.status, response.text], [status, ''], response.request)
  isPrivate(t, response)
  isSigned(t, response)
  saysWhatToDo(t, response)
}

/** A challenge (RFC 6749 section 5.2, RFC 6750 section 3), or Retry-After with 503; no other response has one. */
function saysWhatToDo (t: Test, { status, headers, text, request }: WireResponse): void {
  const isOfUser = request.includes('/oauth/user') && [400, 401].includes(status)
  const basic = status === 401 ? /^Basic realm="partner-sso"$/ : /^$/
  const bearer = text === '' ? /^Bearer realm="partner-sso"$/ : /^Bearer realm="partner-sso", error="\w+", error_desc/
  t.match(headers.get('www-authenticate') ?? '', isOfUser ? bearer : basic, request)
  t.equal(headers.has('retry-after'), status === 503, request)
}

/** What every response of the three routes has; with `more`, the further headers of one response. */
export function isPrivate (t: Test, { headers, request }: WireResponse, more: Record<string, string> = {}): void {
  const expected = { 'cache-control': 'no-store', pragma: 'no-cache', etag: null, ...more }
  const given = Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]))
  const open = [...headers.keys()].filter((name) => name.startsWith('access-control-'))
  t.strictSame({ ...given, open }, { ...expected, open: [] }, request)
}

const GUARDS = { 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' }

/** What every response of the authorization endpoint has, the page apart. */
export function isGuarded (t: Test, response: WireResponse): void {
  hasPolicy(t, response, "frame-ancestors 'none'")
}

/** A redirect of the authorization endpoint: a portal that signs in by a popup keeps it, whatever the host's policy. */
export function isGuardedRedirect (t: Test, response: WireResponse): void {
  isGuarded(t, response)
  isSigned(t, response)
  const { status, headers, request } = response
  t.strictSame([status, headers.get('cross-origin-opener-policy')], [302, 'unsafe-none'], request)
}

/** A response of the authorization endpoint with this Content-Security-Policy. */
export function hasPolicy (t: Test, response: WireResponse, policy: string): void {
  isPrivate(t, response, { ...GUARDS, 'content-security-policy': policy })
}

/** The error page: it has the request's id, carries nothing of the request, loads nothing, and cannot be framed. */
export function isPage (t: Test, response: WireResponse, status: number): void {
  const { request } = response
  t.equal(response.status, status, request)
  const policy = response.headers.get('content-security-policy')?.replace(/'sha256-[\w+/=]+'/, 'STYLE')
  const expected = "default-src 'none'; style-src STYLE; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  t.equal(policy, expected, request)
  t.match(response.headers.get('partner-sso'), /^fastify-partner-sso; error="\w+"; error_description="[^"]+"$/, request)
  t.match(response.text, /^<!doctype html>.*<h1.*For support: .*Request ID: [!-~]+<\/small>.*<\/html>\n$/s, request)
  t.notMatch(JSON.stringify([response.text, ...response.headers]), /zzz|src=|<script|url\(/, request)
  isPrivate(t, response, { ...GUARDS, 'content-type': 'text/html; charset=utf-8' })
}
