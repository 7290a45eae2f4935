import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

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
export const rawServer = (t: Teardown, onSocket: (socket: Socket) => void): Promise<string> => listen(t, createServer(onSocket))

/** A bare HTTP server. */
export const httpServer = (t: Teardown, handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => listen(t, createHttpServer(handler))

/** A port that nothing listens at. */
export async function freePort (): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
