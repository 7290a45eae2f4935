import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

interface Teardown { teardown (done: () => unknown): unknown }

async function listen (t: Teardown, server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server below HTTP. */
export const rawServer = (t: Teardown, onSocket: (socket: Socket) => void): Promise<string> =>
  listen(t, createServer(onSocket))

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A bare HTTP server. */
export function httpServer (t: Teardown, handler: Handler): Promise<string> {
  const server = createHttpServer(handler)
  // As Fastify has it. After Node's five seconds, `fetch` may use a connection again while the server closes it.
  server.keepAliveTimeout = 72_000
  return listen(t, server)
}
