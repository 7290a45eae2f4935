import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { OAuthError } from '../errors.ts'
import { Parameters } from './parameters.ts'

const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i

/** Makes forms the only bodies that the scope reads, whatever the host reads on its own routes. */
export async function readForms (app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  const add = app.addContentTypeParser as (...given: unknown[]) => FastifyInstance
  // formbody gives the type as a string: Fastify 5.0 compares it case-sensitively, and ends it at a space.
  app.addContentTypeParser = (_type: unknown, ...parser: unknown[]) => add.call(app, FORM, ...parser)
  await app.register(formbody, { parser: (text) => new Parameters(text) as unknown as Record<string, unknown> })
}

const READING = Symbol('partner-sso: Fastify may be reading the body')

interface Request extends FastifyRequest {
  [READING]?: true
}

/**
 * Rejects a request whose body was read before Fastify could, by an Express parser for instance: waiting for it would
 * hang. Runs after the host's own `preParsing` hooks, which may replace the stream.
 */
export function partnerSsoPreParsing (
  request: Request, _reply: unknown, body: { readableEnded?: boolean },
  done: (error: Error | null) => void
): void {
  request[READING] = true
  done(body.readableEnded === true ? new OAuthError('body_already_read') : null)
}

/**
 * The refusal when Fastify could not read the body; undefined for any other error, such as one with the same code that
 * a hook of the host throws.
 */
export function bodyRefusal (error: unknown, request: Request): OAuthError | undefined {
  const { code } = Object(error) as { code?: unknown }
  const isOfBody = typeof code === 'string' && code.startsWith('FST_ERR_CTP_')
  if (!isOfBody || request[READING] !== true || request.body !== undefined) return undefined
  return new OAuthError(code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' ? 'content_type_unsupported' : 'body_unreadable')
}
