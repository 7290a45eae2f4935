import type { FastifyReply } from 'fastify'
import type { OAuthError } from '../errors.ts'

/** Seconds after which a portal that got a 503 may try again. */
const RETRY_AFTER = '1'

/** The header of every response that the plugin sends. */
export const SIGNATURE = 'partner-sso'

/** Forbids storing (RFC 6749 section 5.1) and reading from other origins, whatever the host sets on its routes. */
export function protect (reply: FastifyReply): void {
  reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
  for (const name in reply.getHeaders()) {
    // An etag is a digest of the body, which must not be stored.
    if (name === 'etag' || name.startsWith('access-control-')) remove(reply, name)
  }
}

/** Before Fastify 5.12, `removeHeader` leaves a header that was set on the response of Node. */
function remove (reply: FastifyReply, name: string): void {
  reply.removeHeader(name)
  reply.raw.removeHeader(name)
}

/**
 * Says that the plugin sends this response, and with which public error. A client can tell it from the response of a
 * hook, a page of the host or something in front of the app.
 */
export function sign (reply: FastifyReply, refusal?: { error: string, description: string }): FastifyReply {
  const error = refusal ? `; error="${refusal.error}"; error_description="${refusal.description}"` : ''
  return reply.header(SIGNATURE, `fastify-partner-sso${error}`)
}

/** Sends text, not an object: the host's serializers and envelopes leave text alone. */
export function sendJson (reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply.code(status).header('content-type', 'application/json').send(json)
}

/** A refusal in JSON (RFC 6749 section 5.2). */
export function sendRefusal (
  reply: FastifyReply, { refusal }: OAuthError, status: number = refusal.status
): FastifyReply {
  const { error, description } = refusal
  sign(retryLater(reply, status), refusal)
  return sendJson(reply, status, JSON.stringify({ error, error_description: description }))
}

/** Says when to try again, where the status is 503 (RFC 9110 section 15.6.4). */
export function retryLater (reply: FastifyReply, status: number): FastifyReply {
  return status === 503 ? reply.header('retry-after', RETRY_AFTER) : reply
}
