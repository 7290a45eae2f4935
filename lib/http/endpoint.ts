import type { FastifyReply, FastifyRequest, RouteOptions, RouteShorthandOptions } from 'fastify'
import { yieldToHost } from './browser-headers.ts'
import { documented } from './documentation.ts'
import type { Documentation } from './documentation.ts'
import { protect } from './replies.ts'

type OwnOptions = Required<Pick<RouteOptions, 'method' | 'url' | 'handler' | 'errorHandler' | 'onSend'>>

/** The routes by name: `GET /oauth/authorize`, `POST /oauth/token`, `GET /oauth/user`. */
export type RouteName = 'authorize' | 'token' | 'user'

/** One of the three routes. */
export interface Endpoint extends OwnOptions, Pick<RouteOptions, 'preParsing'> {
  name: RouteName
  documentation: Documentation
}

/** Bytes of a token request's body; a usual one has some hundred. Node accepts as many in the head of a request. */
const BODY_LIMIT = 16_384

/** The Fastify route. Merges the host's options with ours. Ours win; our hooks run last. */
export function routeOf (endpoint: Endpoint, ofHost: RouteShorthandOptions): RouteOptions {
  const { name, documentation, preParsing, ...own } = endpoint
  const described = documented(documentation, ofHost.schema)
  return {
    bodyLimit: BODY_LIMIT,
    ...ofHost,
    ...own,
    schema: described.schema,
    config: { ...described.config, ...ofHost.config },
    // A HEAD request would run the GET handler: issue a code, or redeem a token.
    exposeHeadRoute: false,
    preParsing: [ofHost.preParsing ?? [], preParsing ?? []].flat(),
    onSend: [ofHost.onSend ?? [], own.onSend].flat()
  }
}

/**
 * The error handler of the scope: leaves an error to the host's error handler. Fastify calls it after that of a route:
 * for an error of the host that the route has left, and when a hook of the host throws while the response of the route
 * is sent.
 */
export function partnerSsoErrorHandler (
  error: unknown, _request: FastifyRequest, reply: FastifyReply
): Promise<never> {
  protect(reply)
  yieldToHost(reply)
  return leaveToHost(error)
}

/** Leaves an error of the host to the next error handler. Fastify would send a thrown value that is not an Error. */
export function leaveToHost (error: unknown): Promise<never> {
  return Promise.reject(error)
}
