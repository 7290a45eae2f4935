import { type Exchange, type Headers } from './wire.ts'

const HIDDEN = '••••••••'
const SHORTEST = 4
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'set-cookie', 'proxy-authorization'])
const SECRET_FIELDS = /("(?:access_token|refresh_token|id_token|client_secret|code_verifier)"\s*:\s*")[^"]*/g
const SECRET_PARAMETERS = /((?:^|[?&;\s])(?:access_token|client_secret|code|code_verifier)=)[^&\s"'<]*/g

/** Knows the secrets of a sign-in and hides them in everything that is shown or written. */
export class Secrets {
  readonly #values = new Set<string>()

  /** Remembers a secret in the forms in which it may travel. Values of fewer than four characters are not hidden. */
  add (value: string): void {
    if (value.length < SHORTEST) return
    const form = new URLSearchParams({ v: value }).toString().slice(2)
    for (const shape of [value, encodeURIComponent(value), form, JSON.stringify(value).slice(1, -1)]) {
      this.#values.add(shape)
    }
  }

  /** The text with every known secret hidden, and every value in a place where a secret belongs. */
  mask (text: string): string {
    const longestFirst = [...this.#values].sort((a, b) => b.length - a.length)
    const known = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
    return known.replace(SECRET_FIELDS, `$1${HIDDEN}`).replace(SECRET_PARAMETERS, `$1${HIDDEN}`)
  }

  /** The exchange with its secrets hidden, ready to be shown, logged or printed. */
  maskExchange (exchange: Exchange): Exchange {
    const { request, response } = exchange
    const body = request.body === undefined ? {} : { body: this.mask(request.body) }
    const headers = this.#maskHeaders(request.headers)
    const masked = { ...exchange, request: { ...request, url: this.mask(request.url), headers, ...body } }
    if (response === undefined) return masked
    const shown = { ...response, headers: this.#maskHeaders(response.headers), body: this.mask(response.body) }
    return { ...masked, response: shown }
  }

  #maskHeaders (headers: Headers): Headers {
    return headers.map(([name, value]) => {
      const lower = name.toLowerCase()
      return [name, SECRET_HEADERS.has(lower) ? maskHeader(lower, value) : this.mask(value)]
    })
  }
}

/** Keeps what a reader needs (scheme, cookie names and attributes) and hides the values. */
function maskHeader (name: string, value: string): string {
  if (name === 'cookie') return value.replace(/=[^;]*/g, `=${HIDDEN}`)
  if (name === 'set-cookie') return value.replace(/=[^;]*/, `=${HIDDEN}`)
  return value.replace(/ .*/, ` ${HIDDEN}`)
}
