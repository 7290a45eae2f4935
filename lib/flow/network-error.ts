/** Why there is no response. */
export interface NetworkError {
  code: 'unreachable' | 'timeout' | 'not_http' | 'tls' | 'hung_up' | 'too_large' | 'app_failed'
  /** One plain sentence for a person. */
  sentence: string
}

/** Codes or names of errors, and the code and sentence for them. The first match counts. */
const KNOWN: Array<[errors: RegExp, code: NetworkError['code'], sentence: string]> = [
  [/^ECONNREFUSED$/, 'unreachable', 'Nothing listens at ORIGIN.'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'unreachable', 'The host name of ORIGIN is not known.'],
  [
    /^(?:ECONNRESET|EPIPE)$/, 'hung_up',
    'ORIGIN took the request and closed the connection without a response.'
  ],
  [
    /^(?:AbortError|ETIMEDOUT)$/, 'timeout',
    'ORIGIN gave no complete response within SECONDS s.'
  ],
  [/CERT|^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/,
    'tls',
    'The certificate of ORIGIN is not trusted here; ' +
    'NODE_EXTRA_CA_CERTS names a file with certificates of your own authority.'],
  [/^(?:EPROTO$|ERR_SSL)/, 'tls', 'ORIGIN does not speak TLS; is it meant to be http?'],
  [/^HPE_/, 'not_http', 'Something responds at ORIGIN, but not in HTTP.'],
  [/^SWITCHED$/, 'not_http', 'ORIGIN leaves HTTP for another protocol (101 Switching Protocols).'],
  [/^TOO_LARGE$/, 'too_large', 'ORIGIN sent a response of more than a megabyte.'],
  [/^APP_FAILED$/, 'app_failed', 'The app failed: MESSAGE'],
  [/^/, 'unreachable', 'ORIGIN cannot be reached: MESSAGE']
]

/** Says in a plain sentence why a request got no response. */
export function networkError (error: unknown, origin: string, timeout: number): NetworkError {
  const { name, code: given, message } = error as NodeJS.ErrnoException
  const names = [given, name].map(String)
  const [, code, sentence] =
    KNOWN.find(([errors]) => names.some((one) => errors.test(one))) as typeof KNOWN[number]
  return {
    code,
    // By functions: a `$` in the text stays.
    sentence: sentence
      .replace('ORIGIN', () => origin)
      .replace('SECONDS', () => String(timeout / 1000))
      .replace('MESSAGE', () => message)
  }
}
