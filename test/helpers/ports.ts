import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import type { EventEmitter } from 'node:events'
import { createServer } from 'node:net'

/**
 * A TCP port that nothing listens on, never the same twice in the test processes of this machine. It lies below those
 * that the system gives to outgoing connections, which could take it before the server does that it is meant for.
 * The same is true of the port 10,000 above it, which a Redis in a cluster uses for its bus. `fetch` and browsers
 * refuse port 10080, and no other of these.
 */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = randomInt(10_100, 20_000)
    // Test processes run beside each other: the UDP port of the same number is this one's until it ends.
    const isClaimed = await listens(createSocket('udp4').unref().bind(port, '127.0.0.1'))
    if (!isClaimed) continue
    const server = createServer().listen(port, '127.0.0.1')
    if (!await listens(server)) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

const listens = (server: EventEmitter): Promise<boolean> => new Promise((resolve) => {
  server.once('listening', () => resolve(true)).once('error', () => resolve(false))
})
