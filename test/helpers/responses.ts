// Services that are nothing but their responses.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { httpServer } from './listen.ts'

interface Teardown { teardown (done: () => unknown): unknown }

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
