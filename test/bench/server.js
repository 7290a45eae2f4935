import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pinned } from './machine.js'

const here = fileURLToPath(new URL('../..', import.meta.url))

/** A server in a process of its own, seen from its parent. */
export class Server {
  #child
  port
  importTime
  startTime
  /** What it wrote last, to tell when something fails. */
  output

  /**
   * @param {{ module: string, variant: string, checkout?: string }} server a row of servers.js
   * @param {{ redisUrl: string, host?: object, options?: object }} setting
   */
  static async start ({ module, variant, checkout = here }, setting) {
    const argument = JSON.stringify({ ...setting, module, variant })
    const [command, args] = pinned('server', [
      '--expose-gc',
      '--max-old-space-size=6144',
      '--no-deprecation',
      join(checkout, 'test/bench/serve.js'),
      argument
    ])
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    const output = lastOutput(child)
    try {
      return new Server(child, output, await reply(child))
    } catch (error) {
      throw Object.assign(error, { message: `${error.message}\n${output()}` })
    }
  }

  constructor (child, output, { port, importTime, startTime }) {
    this.#child = child
    this.output = output
    Object.assign(this, { port, importTime, startTime })
  }

  /** User and system CPU time so far, in microseconds, of all threads. */
  async cpu () {
    const { user, system } = await this.#ask('cpu')
    return user + system
  }

  /** Turns of the event loop so far, and how often the process has gone to sleep. */
  loop () {
    return this.#ask('loop')
  }

  /** Memory after a full garbage collection. */
  memory () {
    return this.#ask('memory')
  }

  async stop () {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  #ask (question) {
    this.#child.send(question)
    return reply(this.#child)
  }
}

/** The child's next message; fails when it ends first. */
async function reply (child) {
  const done = new AbortController()
  try {
    return await Promise.race([
      once(child, 'message', { signal: done.signal }).then(([message]) => message),
      once(child, 'exit', { signal: done.signal }).then(([code, signal]) => {
        throw new Error(`The server ended (${signal ?? `code ${code}`})`)
      })
    ])
  } finally {
    done.abort()
  }
}

function lastOutput (child) {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      text = (text + chunk).slice(-4000)
    })
  }
  return () => text
}
