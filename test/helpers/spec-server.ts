// The service of service.ts as an app and on a port, and services that are nothing but their responses.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { Headers } from '../../lib/flow/wire.ts'
import { httpServer } from './raw-server.ts'
import { serviceOf } from './service.ts'
import type { Parts, Sent } from './service.ts'

interface Teardown { teardown (done: () => unknown): unknown }

/** A service that keeps the specification and the RFCs, but for these parts. `now`: the time in milliseconds. */
export function specServer (parts: Partial<Parts> = {}, now?: () => number): FastifyInstance {
  const service = serviceOf(parts, now)
  const app = Fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.all('/*', async ({ method, url, headers, body }, reply) => {
    const given = Object.entries(headers) as unknown as Headers
    const sent = await service({ method, url: `http://localhost${url}`, headers: given, body: body as string })
    const { status = 200, headers: own = [], body: text = '' } = sent as Partial<Sent>
    for (const [name, value] of own) reply.header(name, value)
    return reply.code(status).send(text)
  })
  return app
}

/** The service on a port of its own; closed with the test. */
export async function listening (t: Teardown, parts: Partial<Parts> = {}, now?: () => number) {
  const app = specServer(parts, now)
  t.teardown(() => app.close())
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, baseUrl: `${origin}${parts.prefix ?? ''}` }
}

/** Responds with this body; an object is sent as JSON. */
export function respond (
  response: ServerResponse, status: number, body: string | object = '', headers: OutgoingHttpHeaders = {}
): unknown {
  if (typeof body === 'string') return response.writeHead(status, headers).end(body)
  return response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** A service that responds so to each request. */
export const responding = (
  t: Teardown, status: number, body?: string | object, headers?: OutgoingHttpHeaders
): Promise<string> => httpServer(t, (_request, response) => respond(response, status, body, headers))

/** A service that sends each browser back with `the-code`, and responds to the portal as given. */
export const sendingBack = (
  t: Teardown, toPortal: (path: string, response: ServerResponse) => unknown
): Promise<string> => httpServer(t, ({ url = '' }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://x')
  if (pathname !== '/oauth/authorize') return toPortal(pathname, response)
  const query = new URLSearchParams({ code: 'the-code', state: String(searchParams.get('state')) })
  return respond(response, 302, '', { location: `${searchParams.get('redirect_uri')}?${query.toString()}` })
})
