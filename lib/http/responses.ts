import type { FastifyReply } from 'fastify'
import type { OAuthError, PublicError } from '../errors.ts'
import { PAGE_POLICY } from './error-page.ts'

/**
 * The responses that the plugin makes. `host page` is the error page of the option `errorPage`: the body and the
 * policies are the host's, the status and the error are the plugin's.
 */
type Kind = 'json' | 'empty' | 'redirect' | 'page' | 'host page'

/** What the plugin has decided on a response. */
interface Decision {
  kind: Kind
  status: number
  /** The error that the response shows, where it is a refusal. */
  error?: PublicError | undefined
  /** The headers of this response, beside those of its kind. */
  headers: Record<string, string>
}

/** Where a reply keeps the decision until the host's `onSend` hooks have run. */
export const DECIDED = Symbol('partner-sso: decided response')

type DecidingReply = FastifyReply & { [DECIDED]?: Decision | null }

/** No page may frame a response (RFC 6749 section 10.13). */
const NO_FRAMES = "frame-ancestors 'none'"

/** The headers of every response of the three routes, whoever makes it. RFC 6749 section 5.1 forbids caching. */
const ALWAYS = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  // The URL of an authorization request must reach no other site (RFC 9700 section 4.2.4).
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY'
}

/** The headers by the kind of a response, in place of what the host has set. Pages of the host keep their policies. */
const BY_KIND: Record<Kind, Record<string, string>> = {
  json: { ...ALWAYS, 'content-security-policy': NO_FRAMES },
  empty: { ...ALWAYS, 'content-security-policy': NO_FRAMES },
  // With `same-origin`, the default of @fastify/helmet, a portal that signs in by a popup would lose the popup.
  redirect: { ...ALWAYS, 'content-security-policy': NO_FRAMES, 'cross-origin-opener-policy': 'unsafe-none' },
  page: { ...ALWAYS, 'content-security-policy': PAGE_POLICY },
  'host page': ALWAYS
}

/** Tells the plugin's own responses from those of a hook, of a page of the host or of a proxy. */
const SIGNATURE = 'partner-sso'

/** Seconds after which a portal that got a 503 may try again. */
const RETRY_AFTER = '1'

/** Sends a response of the plugin. The body is text, which the host's serializers and envelopes leave alone. */
function send (reply: FastifyReply, decision: Decision, body?: string): FastifyReply {
  decide(reply, decision)
  return reply.headers(decision.headers).send(body)
}

/** Sends JSON with status 200. */
export function sendJson (reply: FastifyReply, body: string): FastifyReply {
  return send(reply, { kind: 'json', status: 200, headers: JSON_TYPE }, body)
}

/** Sends a refusal in JSON (RFC 6749 section 5.2). */
export function sendRefusal (
  reply: FastifyReply, { refusal }: OAuthError, status: number = refusal.status, headers: Record<string, string> = {}
): FastifyReply {
  const { error, description } = refusal
  const body = JSON.stringify({ error, error_description: description })
  return send(reply, { kind: 'json', status, error: refusal, headers: { ...JSON_TYPE, ...headers } }, body)
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/** Sends nothing but a status and headers. */
export function sendEmpty (reply: FastifyReply, status: number, headers: Record<string, string>): FastifyReply {
  return send(reply, { kind: 'empty', status, headers })
}

/** Redirects the browser; with the error that the location has, where it is a refusal. */
export function redirect (reply: FastifyReply, location: string, error?: PublicError): FastifyReply {
  return send(reply, { kind: 'redirect', status: 302, error, headers: { location } })
}

/** Sends an error page: the plugin's own, or what `errorPage` has returned. */
export function sendPage (
  reply: FastifyReply, kind: 'page' | 'host page', error: PublicError & { status: number }, body: string
): FastifyReply {
  return send(reply, { kind, status: error.status, error, headers: HTML_TYPE }, body)
}

const HTML_TYPE = { 'content-type': 'text/html; charset=utf-8' }

/** Lets the host send the error page itself. Status and error stay the plugin's. */
export function letHostSendPage (reply: FastifyReply, error: PublicError & { status: number }): void {
  decide(reply, { kind: 'host page', status: error.status, error, headers: {} })
}

function decide (reply: DecidingReply, decision: Decision): void {
  reply[DECIDED] = decision
  reply.code(decision.status)
}

/**
 * Leaves the response to the host's error handler. Where a hook of the host has thrown while a response of the plugin
 * was sent, what that response had is removed.
 */
export function leaveToHost (reply: DecidingReply, thrown: unknown): void {
  const decided = reply[DECIDED]
  if (decided) {
    for (const name of [...Object.keys(decided.headers), SIGNATURE]) remove(reply, name)
    reply.code(statusOf(thrown))
    reply[DECIDED] = null
  }
  // Fastify does not call `onSend` hooks again where one of them has thrown.
  setHeaders(reply)
}

/** The status that Fastify gives to an error. */
function statusOf (thrown: unknown): number {
  const { statusCode } = Object(thrown) as { statusCode?: number }
  return statusCode !== undefined && statusCode >= 400 ? statusCode : 500
}

/**
 * Sets the headers that every response of the three routes has, and those that the response of the plugin has. Called
 * after the host's `onSend` hooks, so that these can change none of them.
 */
export function setHeaders (reply: DecidingReply): void {
  const decided = reply[DECIDED]
  for (const name in reply.getHeaders()) {
    // An etag is a digest of the body, which must not be stored. Pages of other origins must not read a response.
    if (name === 'etag' || name.startsWith('access-control-')) remove(reply, name)
  }
  reply.headers(decided ? BY_KIND[decided.kind] : ALWAYS)
  if (!decided || decided.kind === 'host page') {
    reply.header('content-security-policy', besideOurs(reply.getHeader('content-security-policy')))
  }
  if (!decided) return
  reply.code(decided.status).header(SIGNATURE, signature(decided.error))
  // RFC 9110 section 15.6.4
  if (decided.status === 503) reply.header('retry-after', RETRY_AFTER)
}

/** The policies of the host and ours: a browser applies all of them (Content Security Policy Level 3 section 8.1). */
function besideOurs (ofHost: unknown): string {
  const policies = [ofHost ?? []].flat().join(', ').split(',').map((policy) => policy.trim()).filter(Boolean)
  return policies.includes(NO_FRAMES) ? policies.join(', ') : [...policies, NO_FRAMES].join(', ')
}

/** A token of RFC 9651 with the public error as its parameters. Descriptions have no quote and no backslash. */
function signature (error: PublicError | undefined): string {
  if (error === undefined) return 'fastify-partner-sso'
  return `fastify-partner-sso; error="${error.error}"; error_description="${error.description}"`
}

/** Before Fastify 5.12, `removeHeader` leaves a header that was set on the response of Node. */
function remove (reply: FastifyReply, name: string): void {
  reply.removeHeader(name)
  reply.raw.removeHeader(name)
}
