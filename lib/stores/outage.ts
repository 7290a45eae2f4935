/** The time in which a connection cannot be used, or may be dead: since when, why, and a promise of its end. */
export class Outage {
  /** A time of `performance.now()`. */
  readonly since = performance.now()
  /** The last error of the server or of the network. */
  reason: Error | undefined
  /** How often it was tried to connect since then. */
  attempts = 0
  /** Resolves when the connection can be used. Rejects where the server has refused it. */
  readonly over: Promise<void>
  #resolve!: () => void
  #reject!: (reason: Error) => void

  constructor () {
    this.over = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Often nobody waits.
    this.over.catch(() => {})
  }

  /** The connection can be used. */
  end (): void {
    this.#resolve()
  }

  /** The server refuses to serve this connection: waiting for it would be in vain. The outage goes on. */
  refuse (reason: Error): void {
    this.reason = reason
    this.#reject(reason)
  }
}
