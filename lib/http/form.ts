import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify'
import { Readable } from 'node:stream'
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
 * Refuses a body that cannot be read as a form, before Fastify tries: Fastify would report its own errors to the
 * `onError` hooks of the host as failures. Runs after the host's `preParsing` hooks, which may replace the stream.
 *
 * @returns the stream that Fastify reads
 * @throws OAuthError
 */
export async function requireForm (request: FastifyRequest, payload: RequestPayload): Promise<RequestPayload> {
  const { 'content-type': type = '', 'content-length': length } = request.headers
  if (!FORM.test(type)) throw new OAuthError('content_type_unsupported')
  // The host, an Express parser for instance, has read the body before Fastify could: waiting for it would hang.
  if (payload.readableEnded) throw new OAuthError('body_already_read')
  const limit = request.routeOptions.bodyLimit
  const stream = length === undefined ? await readUpTo(limit, payload) : payload
  if (stream === null || Number(length) > limit) throw new OAuthError('body_unreadable')
  // Null tells `bodyRefusal` that Fastify has begun to read the body. Before that it is undefined.
  request.body = null
  return stream
}

/** Reads a body of undeclared length (RFC 9112 section 7.1). Null when it has more bytes than the limit. */
function readUpTo (limit: number, payload: RequestPayload): Promise<RequestPayload | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    // A hook of the host may have replaced the stream by one of text.
    payload.on('data', (chunk: Buffer | string) => {
      const bytes = Buffer.from(chunk as string)
      length += bytes.length
      if (length > limit) resolve(null)
      else chunks.push(bytes)
    })
    payload.once('end', () => resolve(Readable.from(Buffer.concat(chunks), { objectMode: false })))
    // The portal has hung up, or the host's stream fails.
    payload.once('error', (cause) => reject(new OAuthError('body_unreadable', { cause })))
  })
}

/**
 * The refusal where Fastify could not read the body although its length was right, because the host has replaced the
 * stream; undefined for any other error, such as one with the same code that a hook of the host throws.
 */
export function bodyRefusal (error: unknown, request: FastifyRequest): OAuthError | undefined {
  const { code } = Object(error) as { code?: unknown }
  const isOfBody = typeof code === 'string' && code.startsWith('FST_ERR_CTP_')
  return isOfBody && request.body === null ? new OAuthError('body_unreadable') : undefined
}
