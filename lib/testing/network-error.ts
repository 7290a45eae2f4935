/** Why there is no response. */
export interface NetworkError {
  code: 'unreachable' | 'timeout' | 'not_http' | 'tls' | 'hung_up' | 'too_large' | 'app_failed'
  /** One plain sentence for a person. */
  sentence: string
}

/** Thrown when a body is larger than what is read. */
export class TooLarge extends Error {}

/** Thrown when an app that is called in-process does not start. */
export class AppFailed extends Error {
  constructor (cause: unknown) {
    super((cause as Error).message)
  }
}

type Tell = (origin: string, timeout: number) => NetworkError

const unknownHost: Tell = (origin) => ({ code: 'unreachable', sentence: `The host name of ${origin} is not known.` })
const certificate: Tell = (origin) => ({
  code: 'tls',
  sentence: `The certificate of ${origin} is not trusted here; ` +
    'NODE_EXTRA_CA_CERTS names a file with certificates of your own authority.'
})
const hungUp: Tell = (origin) => ({
  code: 'hung_up',
  sentence: `${origin} took the request and closed the connection without a response.`
})
const late: Tell = (origin, timeout) => ({
  code: 'timeout',
  sentence: `${origin} gave no complete response within ${timeout / 1000} s.`
})

const KNOWN: Record<string, Tell> = {
  ECONNREFUSED: (origin) => ({ code: 'unreachable', sentence: `Nothing listens at ${origin}.` }),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ECONNRESET: hungUp,
  EPIPE: hungUp,
  TimeoutError: late,
  AbortError: late,
  ETIMEDOUT: late,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  CERT_HAS_EXPIRED: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate
}

/** Says in a plain sentence why a request got no response. */
export function networkError (error: unknown, origin: string, timeout: number): NetworkError {
  if (error instanceof TooLarge) {
    return { code: 'too_large', sentence: `${origin} sent a response of more than a megabyte.` }
  }
  if (error instanceof AppFailed) return { code: 'app_failed', sentence: `The app failed: ${error.message}` }
  const { name, code = name, message } = error as NodeJS.ErrnoException
  const known = KNOWN[code] ?? KNOWN[name]
  if (known !== undefined) return known(origin, timeout)
  if (code.startsWith('HPE_')) {
    return { code: 'not_http', sentence: `Something responds at ${origin}, but not in HTTP.` }
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return { code: 'tls', sentence: `${origin} does not speak TLS; is it meant to be http?` }
  }
  return { code: 'unreachable', sentence: `${origin} cannot be reached: ${message}` }
}
