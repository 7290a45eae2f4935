import { createConnection, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { listen } from '../helpers/listen.ts'

interface Teardown { teardown (stop: () => unknown): void }

/** What happens to bytes: they are passed on or dropped, or the connection is cut. */
export type Rule = (bytes: Buffer) => Buffer | 'swallow' | 'cut'

/** A TCP proxy that can do to a connection what networks do. */
export interface Proxy {
  port: number
  /** The port that new connections are passed on to. */
  target: number
  onRequest: Rule
  onReply: Rule
  /** Resets all connections. */
  cut (): void
  /** Passes nothing on for the connections that there are, and tells nobody. */
  forget (): void
  /** How many connections are open. */
  readonly connections: number
}

export const pass: Rule = (bytes) => bytes

/** Listens in front of a server on this host. */
export async function startProxy (t: Teardown, target: number): Promise<Proxy> {
  const pairs = new Set<[Socket, Socket]>()
  let forgotten = new Set<[Socket, Socket]>()
  const server = createServer((near) => {
    const far = createConnection(proxy.target, '127.0.0.1').setNoDelay()
    const pair: [Socket, Socket] = [near.setNoDelay(), far]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      for (const socket of pair) socket.destroy()
    }
    const link = (from: Socket, to: Socket, rule: () => Rule) => {
      from.on('data', (bytes) => {
        if (forgotten.has(pair)) return
        const result = rule()(bytes)
        if (result === 'cut') reset(near)
        else if (result !== 'swallow' && !to.destroyed) to.write(result)
      })
      from.on('error', () => {}).on('close', end)
    }
    link(near, far, () => proxy.onRequest)
    link(far, near, () => proxy.onReply)
  })
  const proxy: Proxy = {
    port: await listen(t, server),
    target,
    onRequest: pass,
    onReply: pass,
    cut () { for (const [near] of pairs) reset(near) },
    forget () { forgotten = new Set(pairs) },
    get connections () { return pairs.size }
  }
  return proxy
}

/** Resets a connection, unless it is closing: then Node.js 20 would use all its processor time at the exit. */
function reset (socket: Socket): void {
  if (!socket.destroyed && !socket.writableEnded) socket.resetAndDestroy()
}
