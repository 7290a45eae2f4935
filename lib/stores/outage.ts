import type { FastifyBaseLogger } from 'fastify'

/** The time in which the store is unavailable. */
interface Current {
  /** A time of `performance.now()`. */
  since: number
  /** Requests that were refused. */
  refused: number
}

/** Logs once when the store becomes unavailable, and once when it is available again. */
export function outageLog (log: FastifyBaseLogger) {
  let current: Current | undefined
  return {
    /** It is unavailable. The caller counts `refused`. */
    lost (cause: string): Current {
      if (current !== undefined) return current
      const event = 'store_unavailable'
      log.error({ event, reason: event, cause },
        `partner-sso: ${event} (${cause}): no sign-in succeeds until the store is back`)
      current = { since: performance.now(), refused: 0 }
      return current
    },

    /** It has responded. */
    found (): void {
      if (current === undefined) return
      const { since, refused } = current
      current = undefined
      const duration = Math.round(performance.now() - since)
      log.warn({ event: 'store_available', reason: 'ok', duration, refused },
        `partner-sso: store_available after ${duration} ms, ${refused} requests refused`)
    }
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
