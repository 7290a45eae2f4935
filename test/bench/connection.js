import { connect } from 'node:net'

/**
 * One keep-alive HTTP/1.1 connection, one request at a time. It knows just enough HTTP for the answers
 * expected here and fails on anything else: what the load generator costs is taken from the server's time.
 */
export class Connection {
  /** Pieces of answers that came in so far, on all connections. */
  static received = 0

  #socket
  #received = ''
  #waiting

  /** @returns {Promise<Connection>} */
  static open (port) {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
    })
  }

  constructor (socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text) => this.#read(text))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('The server closed the connection')))
  }

  /**
   * @param {string} text head and body, as they go over the wire
   * @returns {Promise<{ status: number, head: string, body: string }>}
   */
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
    Connection.received++
    this.#received = this.#received === '' ? text : this.#received + text
    const endOfHead = this.#received.indexOf('\r\n\r\n')
    if (endOfHead === -1) return
    const head = this.#received.slice(0, endOfHead)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    if (length === null) return this.#fail(new Error(`An answer without Content-Length:\n${head}`))
    const end = endOfHead + 4 + Number(length[1])
    if (this.#received.length < end) return
    if (this.#received.length > end || !this.#waiting) {
      return this.#fail(new Error(`More than one answer:\n${this.#received}`))
    }
    const answer = { status: Number(head.slice(9, 12)), head, body: this.#received.slice(endOfHead + 4) }
    const { resolve } = this.#waiting
    this.#received = ''
    this.#waiting = undefined
    resolve(answer)
  }

  #fail (error) {
    this.#waiting?.reject(error)
    this.#waiting = undefined
    this.#socket.destroy()
  }
}
