import type { FastifyReply, FastifyRequest, RouteOptions, RouteShorthandOptions } from 'fastify'
import { OAuthError } from '../errors.ts'
import type { Reporter } from '../events.ts'
import { yieldToHost } from './browser-headers.ts'
import { documented } from './documentation.ts'
import type { Documentation } from './documentation.ts'
import { bodyRefusal } from './form.ts'
import { protect } from './replies.ts'

/** The routes by name: `GET /oauth/authorize`, `POST /oauth/token`, `GET /oauth/user`. */
export type RouteName = 'authorize' | 'token' | 'user'

/** One of the three routes. */
export interface Endpoint extends Pick<RouteOptions, 'method' | 'url' | 'handler' | 'preParsing'> {
  name: RouteName
  documentation: Documentation
  /** Sets the headers that each response has. */
  protect: (reply: FastifyReply) => void
  /** Responds with a refusal, which was reported. */
  refuse: (error: OAuthError, reply: FastifyReply) => unknown
}

/** Bytes of a token request's body; a usual one has some hundred. Node accepts as many in the head of a request. */
const BODY_LIMIT = 16_384

/** The Fastify route. Merges the host's options with ours. Ours win; our hooks run last. */
export function routeOf (endpoint: Endpoint, ofHost: RouteShorthandOptions, reporter: Reporter): RouteOptions {
  const { documentation, method, url, handler, preParsing = [], protect, refuse } = endpoint
  const described = documented(documentation, ofHost.schema)
  return {
    bodyLimit: BODY_LIMIT,
    ...ofHost,
    method,
    url,
    handler,
    schema: described.schema,
    config: { ...described.config, ...ofHost.config },
    // A HEAD request would run the GET handler: issue a code, or redeem a token.
    exposeHeadRoute: false,
    preParsing: [ofHost.preParsing ?? [], preParsing].flat(),
    onSend: [ofHost.onSend ?? [], partnerSsoOnSend].flat(),
    errorHandler: partnerSsoError
  }

  /** Runs after the host's hooks: they cannot undo it. */
  function partnerSsoOnSend (
    _request: unknown, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void
  ): void {
    protect(reply)
    done(null, payload)
  }

  function partnerSsoError (thrown: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
    yieldToHost(reply)
    // A hook of the host may throw while the response is sent: then our onSend does not run.
    protect(reply)
    const error = thrown instanceof OAuthError ? thrown : bodyRefusal(thrown, request)
    if (error === undefined) return partnerSsoErrorHandler(thrown, request, reply)
    reporter.refused(request, error)
    return refuse(error, reply)
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
  // Fastify would send a thrown value that is not an Error.
  return Promise.reject(error)
}
