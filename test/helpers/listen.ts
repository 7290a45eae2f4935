import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server as HttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'

interface Teardown { teardown (done: () => unknown): unknown }

/** Has the server listen on a free port of this host until the test is over; then its connections are reset. */
export async function listen (t: Teardown, server: Server | HttpServer, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve, reject) => { server.once('error', reject).listen(0, host, resolve) })
  return (server.address() as AddressInfo).port
}

/** A server below HTTP. */
export const rawServer = async (t: Teardown, onSocket: (socket: Socket) => void): Promise<string> =>
  `http://127.0.0.1:${await listen(t, createServer(onSocket))}`

/** A bare HTTP server. */
export async function httpServer (t: Teardown, handler: RequestListener): Promise<string> {
  const server = createHttpServer(handler)
  // As Fastify has it. After Node's five seconds, `fetch` may use a connection again while the server closes it.
  server.keepAliveTimeout = 72_000
  return `http://127.0.0.1:${await listen(t, server)}`
}
