import { AbstractConnector } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { connect } from 'node:net'
import type { NetConnectOpts, Socket } from 'node:net'
import { connect as connectByTls } from 'node:tls'

/**
 * The option `Connector` of ioredis: connects as ioredis does, by a socket that writes once in a turn of the event
 * loop. `note` gets each error of the network: for a Cluster, ioredis itself says only that all nodes failed.
 */
export function connectorTo (note: (reason: Error) => void): NonNullable<RedisOptions['Connector']> {
  return class TurnConnector extends AbstractConnector {
    readonly #options: RedisOptions

    constructor (options: unknown) {
      super((options as RedisOptions).disconnectTimeout as number)
      this.#options = options as RedisOptions
    }

    async connect (): Promise<Socket> {
      const { path, host, port, family, tls } = this.#options
      const address = { path, host, port, family, ...tls } as NetConnectOpts
      const socket = writingOnceATurn(tls ? connectByTls(address) : connect(address))
      socket.once('error', (error) => {
        this.firstError = error
        note(error)
      })
      this.stream = socket
      return socket
    }
  }
}

/** Commands that are written in one turn of the event loop leave by one system call; ioredis makes one for each. */
function writingOnceATurn (socket: Socket): Socket {
  const { write } = socket
  socket.write = (...given: unknown[]): boolean => {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return write.apply(socket, given as Parameters<typeof write>)
  }
  return socket
}
