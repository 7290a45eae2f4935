import { type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify'
import { type OAuthError } from '../errors.ts'

/** What each of the three routes brings with it. */
export type Endpoint = Required<Pick<RouteOptions, 'handler' | 'errorHandler' | 'onSend'>>

/** Seconds after which a portal that got a 503 may try again. */
const RETRY_AFTER = '1'

/** Never reused, and open to no other origin, whatever the host sets on its own routes (RFC 6749 section 5.1). */
export function protect (reply: FastifyReply): void {
  // An etag is a digest of what is not to be kept.
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache').removeHeader('etag')
  for (const name of Object.keys(reply.getHeaders())) {
    if (name.startsWith('access-control-')) reply.removeHeader(name)
  }
}

/** Runs after the host's hooks, so that none of them undoes it. */
export function protectOnSend (_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void): void {
  protect(reply)
  done(null, payload)
}

/** Sends text, not an object: the host's serializers and envelopes leave text alone. */
export function sendJson (reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply.code(status).header('content-type', 'application/json').send(json)
}

/** A refusal in JSON (RFC 6749 section 5.2). */
export function sendRefusal (reply: FastifyReply, { refusal }: OAuthError): FastifyReply {
  if (refusal.status === 503) reply.header('retry-after', RETRY_AFTER)
  return sendJson(reply, refusal.status, JSON.stringify({ error: refusal.error, error_description: refusal.description }))
}
