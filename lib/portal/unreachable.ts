/** Codes of errors that say so, and of nothing else. */
const CODES: unknown[] = [
  // Of connections: refused, not made, lost.
  'ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN',
  'ECONNRESET', 'ECONNABORTED', 'ENETRESET', 'EPIPE',
  // Of names: unknown, and no response of the name server.
  'ENOTFOUND', 'EAI_AGAIN',
  // Of `fetch`.
  'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_SOCKET'
]

/** Errors wrap others: `fetch` by `cause`, a connection to several addresses as an AggregateError. */
const DEPTH = 5

/**
 * Why something could not be reached, where the error says so by its code, or by the name TimeoutError (as of
 * `AbortSignal.timeout`), or one that it wraps does. Undefined for any other error: nothing is read out of messages.
 */
export function whyUnreachable (error: unknown, depth = DEPTH): string | undefined {
  try {
    return depth > 0 ? search(error as WrappingError | null | undefined, depth) : undefined
  } catch {
    // A getter of the error threw.
    return undefined
  }
}

interface WrappingError {
  name?: unknown
  code?: unknown
  message?: unknown
  cause?: unknown
  errors?: unknown
}

function search (error: WrappingError | null | undefined, depth: number): string | undefined {
  if (error === null || error === undefined) return undefined
  const { name, code, message, cause, errors } = error
  if (CODES.includes(code) || name === 'TimeoutError') return String(message || code || name)
  const wrapped: unknown[] = Array.isArray(errors) ? [cause, ...errors.slice(0, DEPTH)] : [cause]
  for (const each of wrapped) {
    const why = whyUnreachable(each, depth - 1)
    if (why !== undefined) return why
  }
  return undefined
}
