import type { FastifyBaseLogger } from 'fastify'

/** The time in which the store is unavailable. */
interface Current {
  /** A time of `performance.now()`. */
  since: number
  /** Requests that were refused. */
  refused: number
}

/** Logs once when the store becomes unavailable, and once when it is available again. */
export class Outage {
  readonly #log: FastifyBaseLogger
  #current: Current | undefined

  constructor (log: FastifyBaseLogger) {
    this.#log = log
  }

  /** It is unavailable. The caller counts `refused`. */
  lost (cause: string): Current {
    if (this.#current !== undefined) return this.#current
    const event = 'store_unavailable'
    this.#log.error({ event, reason: event, cause },
      `partner-sso: ${event} (${cause}): no sign-in succeeds until the store is back`)
    this.#current = { since: performance.now(), refused: 0 }
    return this.#current
  }

  /** It has responded. */
  found (): void {
    if (this.#current === undefined) return
    const { since, refused } = this.#current
    this.#current = undefined
    const duration = Math.round(performance.now() - since)
    this.#log.warn({ event: 'store_available', reason: 'ok', duration, refused },
      `partner-sso: store_available after ${duration} ms, ${refused} requests refused`)
  }
}

/** The sentence of an error. Redis repeats the arguments of a command in some of them: these are cut off. */
export function describe (error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error).replace(/, with args.*/s, '')
  } catch {
    return 'An error without a readable message'
  }
}
