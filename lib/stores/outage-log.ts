import type { FastifyBaseLogger } from 'fastify'
import { clearTimeout, setTimeout } from '../time-limit.ts'

/** The time in which calls to the store fail. */
interface LoggedOutage {
  /** A time of `performance.now()`. */
  since: number
  /** How many requests were refused. */
  refused: number
  /** Runs since the first success after the last failure: nothing has failed since. */
  quiet?: NodeJS.Timeout | undefined
}

/**
 * Logs an outage of the store by two lines, one at its beginning and one at its end, also where some calls succeed
 * meanwhile, as when one master of a Redis Cluster is down. The outage is over when a call succeeds and no other fails
 * for `quietTime` milliseconds.
 */
export class OutageLog {
  readonly #log: FastifyBaseLogger
  readonly #quietTime: number
  #current: LoggedOutage | undefined

  constructor (log: FastifyBaseLogger, quietTime: number) {
    this.#log = log
    this.#quietTime = quietTime
  }

  /** A request was refused because of this cause. */
  refused (cause: string): void {
    this.failed(cause).refused++
  }

  /** A call failed because of this cause. */
  failed (cause: string): LoggedOutage {
    const current = this.#current ??= this.#begin(cause)
    clearTimeout(current.quiet)
    current.quiet = undefined
    return current
  }

  /** A call succeeded. */
  succeeded (): void {
    const current = this.#current
    if (current === undefined || current.quiet !== undefined) return
    const duration = Math.round(performance.now() - current.since)
    current.quiet = setTimeout(() => this.#end(current, duration), this.#quietTime).unref()
  }

  #begin (cause: string): LoggedOutage {
    const event = 'store_unavailable'
    this.#log.error({ event, reason: event, cause },
      `partner-sso: ${event} (${cause}): sign-ins fail until the store is back`)
    return { since: performance.now(), refused: 0 }
  }

  #end ({ refused }: LoggedOutage, duration: number): void {
    this.#current = undefined
    this.#log.warn({ event: 'store_available', reason: 'ok', duration, refused },
      `partner-sso: store_available after ${duration} ms, ${refused} requests refused`)
  }
}

/** The sentence of an error. Redis repeats the arguments of a command in some of them: these are cut off. */
export function describe (error: unknown): string {
  try {
    return String(error instanceof Error ? textOf(error) : error).replace(/, with args.*/s, '')
  } catch {
    return 'An error without a readable message'
  }
}

/** Where Node.js has tried several addresses of a host, its error has a code and an empty message. */
function textOf ({ message, code }: NodeJS.ErrnoException): string | undefined {
  return message === '' ? code : message
}
