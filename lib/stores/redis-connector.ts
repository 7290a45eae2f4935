import { AbstractConnector } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectByTls } from 'node:tls'

/**
 * The option `Connector` of ioredis: connects as ioredis does, and makes the socket known. With it, the commands of a
 * turn of the event loop leave by one system call; ioredis makes one for each.
 */
export const connectorTo = (onSocket: (socket: Socket) => void): RedisOptions['Connector'] =>
  class extends AbstractConnector {
    readonly #options: any

    constructor (options: any) {
      super(options.disconnectTimeout)
      this.#options = options
    }

    async connect () {
      const { path, host, port, family, tls } = this.#options
      const address = { path, host, port, family, ...tls }
      this.stream = tls ? connectByTls(address) : connect(address)
      this.stream.once('error', (error) => { this.firstError = error })
      onSocket(this.stream)
      return this.stream
    }
  }
