import type { FastifySchema } from 'fastify'
import * as Type from '../typebox.ts'

/** What an API document says of a route. Nothing is validated or serialized by it. */
export interface Documentation {
  summary: string
  description: string
  querystring?: { properties: object }
  hide?: boolean
  [keyword: string]: unknown
}

/**
 * Describes a route to @fastify/swagger (OpenAPI 3). It is not the route's own `schema`: Fastify would serialize the
 * responses of the host's error handler by it, and a transform of the host that understands zod alone would fail on it.
 * Of the host's `schema` in `routeOptions`, the route keeps what describes (tags, hide, security) and nothing that
 * validates or serializes.
 */
export function documented (
  documentation: Documentation, ofHost: FastifySchema = {}
): { config: object, schema: FastifySchema } {
  const {
    body, querystring, query, params, headers, response, ...schema
  } = ofHost as FastifySchema & { query?: unknown }
  const hide = documentation.hide ?? (ofHost as { hide?: boolean }).hide
  const swaggerTransform = ({ url }: { url: string }) => ({ schema: { ...documentation, ...ofHost, hide }, url })
  return { config: { swaggerTransform }, schema }
}

export const text = (description: string) => Type.String({ description })

/** The JSON of a refusal (RFC 6749 section 5.2). */
export const refusal = (description: string) => Type.Object({
  error: text('An error code of RFC 6749 or RFC 6750'),
  error_description: text('One fixed sentence in English')
}, { description })

/** The errors that a server has beside those of its protocol. */
export const serverErrors = {
  500: refusal('server_error: a function of the app failed'),
  503: refusal('temporarily_unavailable: the store of the app does not respond. Retry-After says when to try again')
}

export const fixed = (value: string) => Type.Enum([value], { type: 'string' })
