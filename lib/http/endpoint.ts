import { type FastifyReply, type FastifyRequest, type RouteOptions, type RouteShorthandOptions } from 'fastify'
import { type Documentation, documented } from './documentation.ts'
import { OAuthError } from '../errors.ts'
import { protect } from './replies.ts'

type OwnOptions = Required<Pick<RouteOptions, 'method' | 'url' | 'handler' | 'errorHandler' | 'onSend'>>

/** One of the three routes. */
export interface Endpoint extends OwnOptions, Pick<RouteOptions, 'preParsing'> {
  documentation: Documentation
}

/** Bytes of a token request: a good one has some hundred. As many as Node accepts in the head of a request. */
const BODY_LIMIT = 16_384

/** The Fastify route: the host's options, then ours, which win; of the hooks ours are the last. */
export function routeOf (endpoint: Endpoint, ofHost: RouteShorthandOptions): RouteOptions {
  const { documentation, preParsing, ...own } = endpoint
  const described = documented(documentation, ofHost.schema)
  return {
    bodyLimit: BODY_LIMIT,
    ...ofHost,
    ...own,
    schema: described.schema,
    config: { ...described.config, ...ofHost.config },
    // A HEAD twin would issue a code, or use up a token.
    exposeHeadRoute: false,
    preParsing: [ofHost.preParsing ?? [], preParsing ?? []].flat(),
    onSend: [ofHost.onSend ?? [], own.onSend].flat()
  }
}

// A location of ours with a code in it.
const LIVE_CODE = /[?&]code=[\w-]{44}(?:&|$)/

/**
 * Leaves an error that is none of ours to the host's error handler. A hook of the host may have thrown after we
 * answered: then nothing of our answer stays but that it must not be stored.
 */
export function leaveToHost (error: unknown, reply: FastifyReply): never {
  if (LIVE_CODE.test(String(reply.getHeader('location')))) reply.removeHeader('location')
  protect(reply)
  throw error
}

/**
 * Rejects a request whose body was read before Fastify could, by an Express parser for instance: waiting for it would
 * hang. Runs after the host's own `preParsing` hooks, which may replace the stream.
 */
export function requireUnreadBody (
  _request: FastifyRequest, _reply: FastifyReply, body: { readableEnded?: boolean },
  done: (error: Error | null) => void
): void {
  done(body.readableEnded === true ? new OAuthError('body_already_read') : null)
}
