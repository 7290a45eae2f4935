// What a host does to its app. None of it changes anything of the three routes.
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { routerOptions } from '../helpers/fastify.ts'
import type { Factory } from '../helpers/fastify.ts'

export interface HostKind {
  server? (factory: Factory): FastifyServerOptions
  prepare? (app: FastifyInstance): unknown
  options?: Pick<PartnerSsoOptions, 'routeOptions'>
}

const hooks: HostKind = {
  prepare (app) {
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) return
      reply.code(202).type('text/csv').header('set-cookie', 'seen=1')
      const headers = {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': '*',
        'cache-control': 'public, max-age=60',
        'content-security-policy': "default-src 'self'",
        'cross-origin-opener-policy': 'same-origin',
        etag: '"1"'
      }
      for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value)
    })
    app.addHook('preSerialization', async (_request, _reply, payload) => ({ data: payload }))
    app.addHook('onSend', async (_request, reply) => {
      // As sessions and compression do: `reply.sent` is false for a while after `reply.send()`.
      await new Promise((resolve) => setImmediate(resolve))
      reply.headers({ 'cache-control': 'public', pragma: 'cache', 'referrer-policy': 'unsafe-url', etag: '"2"' })
      if (!reply.hasHeader('content-security-policy')) reply.header('content-security-policy', 'frame-ancestors *')
    })
    app.setReplySerializer((payload, status) => JSON.stringify({ status, payload }))
    app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ problem: 'of the host' }))
    app.setNotFoundHandler((_request, reply) => reply.code(404).send({ problem: 'not there' }))
  }
}

function refuseSchema (): never {
  throw new Error('There is no such schema')
}

const absent = { type: 'object', required: ['absent'] }

const compilers: HostKind = {
  server: () => ({
    ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: true } }
  }),
  prepare (app) {
    // As those of zod, which know no JSON schema.
    app.setValidatorCompiler(refuseSchema)
    app.setSerializerCompiler(refuseSchema)
  },
  options: {
    routeOptions: { schema: { querystring: absent, headers: absent, body: absent, response: { '2xx': absent } } }
  }
}

/** Hides what is repeated. */
const lastOfEach = (text: string) => Object.fromEntries(new URLSearchParams(text))

const parsers: HostKind = {
  server: (factory) => routerOptions(
    { querystringParser: lastOfEach, caseSensitive: false, ignoreTrailingSlash: true }, factory),
  async prepare (app) {
    app.removeAllContentTypeParsers()
    await app.register(formbody, { parser: lastOfEach })
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, `text: ${String(body)}`))
  }
}

export const hostKinds: Record<string, HostKind> = { bare: {}, hooks, compilers, parsers }
