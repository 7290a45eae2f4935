import { Connection } from './connection.js'

const never = new Int32Array(new SharedArrayBuffer(4))
const milliseconds = 0.3

/**
 * Until `work` is done, this process sleeps by the clock and not in wait of its sockets. A process that waits for
 * a socket is woken by whoever writes to it, on the writer's account: up to 20 µs per answer on a virtual machine,
 * the more the longer the reader has slept. No portal across a network costs the server that.
 */
export async function napping (work) {
  let seen = Connection.received
  let working = true
  const look = () => {
    if (!working) return
    if (Connection.received === seen) Atomics.wait(never, 0, 0, milliseconds)
    seen = Connection.received
    setImmediate(look) // sockets are polled, without waiting, before it runs
  }
  look()
  try {
    return await work()
  } finally {
    working = false
  }
}
