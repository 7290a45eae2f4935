import type { Server as HttpServer } from 'node:http'
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
