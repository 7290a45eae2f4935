import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { listen } from './listen.ts'

interface Teardown { teardown (done: () => unknown): unknown }

/** A server below HTTP. */
export const rawServer = async (t: Teardown, onSocket: (socket: Socket) => void): Promise<string> =>
  `http://127.0.0.1:${await listen(t, createServer(onSocket))}`

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A bare HTTP server. */
export async function httpServer (t: Teardown, handler: Handler): Promise<string> {
  const server = createHttpServer(handler)
  // As Fastify has it. After Node's five seconds, `fetch` may use a connection again while the server closes it.
  server.keepAliveTimeout = 72_000
  return `http://127.0.0.1:${await listen(t, server)}`
}
