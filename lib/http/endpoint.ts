import type { FastifyReply, FastifyRequest, RequestPayload, RouteOptions, RouteShorthandOptions } from 'fastify'
import { OAuthError } from '../errors.ts'
import type { Reporter } from '../events.ts'
import { documented } from './documentation.ts'
import type { Documentation } from './documentation.ts'
import { bodyRefusal } from './form.ts'
import { leaveToHost, setHeaders } from './responses.ts'

/**
 * A route by its name, for the option `routeOptions`: `GET /oauth/authorize`, `POST /oauth/token` or
 * `GET /oauth/user`.
 */
export type RouteName = 'authorize' | 'token' | 'user'

/**
 * Refuses a request before Fastify parses its body, which it may read. Returns the stream to parse. @throws OAuthError
 */
type PreParse = (request: FastifyRequest, payload: RequestPayload) => Promise<RequestPayload>

/** A route. GET and POST of `/oauth/token` have one name, and the same options of the host. */
export interface Endpoint {
  name: RouteName
  method: 'GET' | 'POST'
  url: string
  documentation: Documentation
  preParse?: PreParse
  /** Responds to a request. @throws OAuthError */
  handle: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  /** Sends the response of a refusal, which was reported. */
  refuse: (error: OAuthError, reply: FastifyReply) => unknown
}

/** Bytes of a token request's body; a usual one has some hundred. Node accepts as many in the head of a request. */
const BODY_LIMIT = 16_384

/** The Fastify route. Merges the host's options with ours. Ours win; our hooks run last. */
export function routeOf (endpoint: Endpoint, ofHost: RouteShorthandOptions, reporter: Reporter): RouteOptions {
  const { documentation, method, url, preParse, handle, refuse } = endpoint
  const described = documented(documentation, ofHost.schema)
  return {
    bodyLimit: BODY_LIMIT,
    ...ofHost,
    method,
    url,
    handler: partnerSsoHandler,
    schema: described.schema,
    config: { ...described.config, ...ofHost.config },
    // A HEAD request would run the GET handler: issue a code, or redeem a token.
    exposeHeadRoute: false,
    preParsing: [ofHost.preParsing ?? [], preParse === undefined ? [] : preParsingHook(preParse)].flat(),
    errorHandler: partnerSsoError
  }

  async function partnerSsoHandler (request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    try {
      return await handle(request, reply)
    } catch (thrown) {
      return refuseOrThrow(OAuthError.from(thrown), request, reply)
    }
  }

  /** With a callback, which is not called after a refusal: Fastify would go on after an async hook. */
  function preParsingHook (preParse: PreParse) {
    return function partnerSsoPreParsing (
      request: FastifyRequest, reply: FastifyReply, payload: RequestPayload,
      done: (error: null, payload: RequestPayload) => void
    ): void {
      preParse(request, payload).then((stream) => done(null, stream), (thrown) => {
        report(OAuthError.from(thrown), request, reply)
      })
    }
  }

  /**
   * Responds with a refusal. A failure is thrown: Fastify then calls the `onError` hooks of the host, which must not
   * count what a caller has caused, before `partnerSsoError`.
   */
  function refuseOrThrow (error: OAuthError, request: FastifyRequest, reply: FastifyReply): unknown {
    if (error.isFailure) throw error
    return report(error, request, reply)
  }

  function report (error: OAuthError, request: FastifyRequest, reply: FastifyReply): unknown {
    reporter.refused(request, error)
    return refuse(error, reply)
  }

  function partnerSsoError (thrown: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
    leaveToHost(reply, thrown)
    const error = thrown instanceof OAuthError ? thrown : bodyRefusal(thrown, request)
    // Fastify would send a thrown value that is not an Error.
    if (error === undefined) return Promise.reject(thrown)
    return report(error, request, reply)
  }
}

/**
 * Adds the hook that sets the headers to a route, as its last one: no hook of the host can undo it. To be called by an
 * `onRoute` hook of the plugin's scope, which runs after those of the host, since these may add hooks to a route as
 * well.
 */
export function addHeaders (route: RouteOptions): void {
  route.onSend = [route.onSend ?? [], partnerSsoOnSend].flat()
}

function partnerSsoOnSend (
  _request: unknown, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void
): void {
  setHeaders(reply)
  done(null, payload)
}

/**
 * The error handler of the scope: leaves an error to the host's error handler. Fastify calls it after that of a route:
 * for an error of the host that the route has left, and when a hook of the host throws while the response of the route
 * is sent.
 */
export function partnerSsoErrorHandler (
  error: unknown, _request: FastifyRequest, reply: FastifyReply
): Promise<never> {
  leaveToHost(reply, error)
  return Promise.reject(error)
}
