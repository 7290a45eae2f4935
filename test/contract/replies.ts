// What every response of the three routes is like.
import type { Test } from 'tap'
import type { Answer } from '../helpers/wire.ts'

/** The error_description of RFC 6749 section 5.2: ASCII without quote and backslash. */
export const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** A JSON response, to the letter when a body is given. */
export function isJson (t: Test, answer: Answer, status: number, body?: unknown): void {
  const text = body === undefined ? answer.text : JSON.stringify(body)
  t.strictSame([answer.status, answer.text], [status, text])
  isPrivate(t, answer, { 'content-type': 'application/json; charset=utf-8' })
}

/** A refusal in JSON, to the letter. */
export function isRefused (t: Test, answer: Answer, status: number, error: string, description: string): void {
  isJson(t, answer, status, { error, error_description: description })
}

/** A refusal in JSON. */
export function refuses (t: Test, answer: Answer, status: number, error: string, message = error): void {
  t.strictSame([answer.status, answer.json.error], [status, error], message)
  isPrivate(t, answer)
}

/** What every response of the three routes has; with `more`, what a response has besides. */
export function isPrivate (t: Test, { headers }: Answer, more: Record<string, string> = {}): void {
  const expected = { 'cache-control': 'no-store', pragma: 'no-cache', etag: null, ...more }
  const given = Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]))
  const open = [...headers.keys()].filter((name) => name.startsWith('access-control-'))
  t.strictSame({ ...given, open }, { ...expected, open: [] })
}

/** What every response of the authorization endpoint has, the page apart. */
export function isGuarded (t: Test, answer: Answer): void {
  hasPolicy(t, answer, "frame-ancestors 'none'")
}

/** A response of the authorization endpoint with this Content-Security-Policy. */
export function hasPolicy (t: Test, answer: Answer, policy: string): void {
  const guards = { 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY', 'content-security-policy': policy }
  isPrivate(t, answer, guards)
}

/** The error page: it carries nothing of the request, loads nothing, and cannot be framed. */
export function isPage (t: Test, answer: Answer, status: number): void {
  t.equal(answer.status, status)
  const policy = answer.headers.get('content-security-policy')?.replace(/'sha256-[\w+/=]+'/, 'STYLE')
  t.equal(policy, "default-src 'none'; style-src STYLE; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
  t.match(answer.text, /^<!doctype html>.*<h1.*<\/html>\n$/s)
  t.notMatch(JSON.stringify([answer.text, ...answer.headers]), /zzz|src=|<script|url\(/)
  isPrivate(t, answer, { 'content-type': 'text/html; charset=utf-8' })
}
