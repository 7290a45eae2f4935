import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { OAuthError } from '../errors.ts'
import { Parameters } from './parameters.ts'

// RFC 9110 section 8.3.1: in any case, and with white space before the parameters.
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i

/** Makes forms the only bodies that the scope reads, whatever the host reads on its own routes. */
export async function readForms (app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  const parser = (text: string) => new Parameters(text) as unknown as Record<string, unknown>
  await app.register(formbody, { parser })
  // formbody gives the type as a string, which Fastify 5.0 compares as it is: this reads its other spellings.
  app.addContentTypeParser(FORM, { parseAs: 'string' }, async (_request: unknown, body: string) => parser(body))
}

/**
 * Rejects a body that is not a form, and one that was read before Fastify could, by an Express parser for instance:
 * waiting for it would hang. Runs after the host's own `preParsing` hooks, which may replace the stream.
 */
export function partnerSsoPreParsing (
  request: FastifyRequest, _reply: unknown, body: { readableEnded?: boolean }, done: (error: Error | null) => void
): void {
  if (!FORM.test(request.headers['content-type'] ?? '')) return done(new OAuthError('content_type_unsupported'))
  if (body.readableEnded === true) return done(new OAuthError('body_already_read'))
  // Tells a body that Fastify may be reading from one that it has not begun to read, which is undefined.
  request.body = null
  done(null)
}

/**
 * The refusal when Fastify could not read the body; undefined for any other error, such as one with the same code that
 * a hook of the host throws.
 */
export function bodyRefusal (error: unknown, request: FastifyRequest): OAuthError | undefined {
  const { code } = Object(error) as { code?: unknown }
  const isOfBody = typeof code === 'string' && code.startsWith('FST_ERR_CTP_')
  return isOfBody && request.body === null ? new OAuthError('body_unreadable') : undefined
}
