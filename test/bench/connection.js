import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * A keep-alive HTTP/1.1 connection, one request at a time. It reads responses with a Content-Length and fails on any
 * other: a whole HTTP client would cost more than the server that is measured.
 */
export class Connection {
  #socket
  #received = ''
  #waiting

  static async open (port) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  constructor (socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text) => this.#read(text))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('The server closed the connection')))
  }

  /** @returns {Promise<{ status: number, head: string, body: string }>} */
  request (text) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(text, 'latin1')
    })
  }

  close () {
    this.#socket.destroy()
  }

  #read (text) {
    this.#received += text
    const endOfHead = this.#received.indexOf('\r\n\r\n')
    if (endOfHead === -1) return
    const head = this.#received.slice(0, endOfHead)
    const body = this.#received.slice(endOfHead + 4)
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
    if (body.length < length) return
    this.#received = ''
    if (body.length === length) this.#waiting.resolve({ status: Number(head.slice(9, 12)), head, body })
    else this.#waiting.reject(new Error(`Not one response with a Content-Length:\n${head}\n\n${body}`))
  }
}
