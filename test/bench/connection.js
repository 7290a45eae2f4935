import { once } from 'node:events'
import { createConnection } from 'node:net'

/**
 * A keep-alive HTTP/1.1 connection, one request at a time. It reads responses with a Content-Length and fails on any
 * other: a whole HTTP client would cost more than the server that is measured.
 */
export async function connect (port) {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let received = ''
  let waiting
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
    const [head, body = ''] = received.split('\r\n\r\n', 2)
    const missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]) - body.length
    if (missing > 0 || !received.includes('\r\n\r\n')) return
    if (missing !== 0) throw new Error(`Not one response with a Content-Length:\n${received}`)
    received = ''
    waiting({ status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)), head, body })
  })
  return {
    /** @returns {Promise<{ status: number, head: string, body: string }>} */
    request: (text) => new Promise((resolve) => {
      waiting = resolve
      socket.write(text, 'latin1')
    }),
    close: () => socket.destroy()
  }
}
