import type { Exchange, Headers } from './wire.ts'

const HIDDEN = '••••••••'
const SHORTEST = 4
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'set-cookie', 'proxy-authorization'])
const SECRET_FIELDS = /("(?:access_token|refresh_token|id_token|client_secret|code_verifier)"\s*:\s*")[^"]*/g
const SECRET_PARAMETERS = /((?:^|[?&;\s])(?:access_token|client_secret|code|code_verifier)=)[^&\s"'<]*/g
const NAMED: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', '\'': 'apos' }

/** Knows the secrets of a sign-in and hides them in everything that is shown or written. */
export class Secrets {
  /** Each secret with the pattern that finds it; the longest first, for one secret may contain another. */
  #patterns: Array<[value: string, pattern: RegExp]> = []

  /**
   * Remembers a secret.
   *
   * @param shortest - a shorter value is not hidden, for it would hide half of the text
   */
  add (value: string, shortest = SHORTEST): void {
    if (value.length < shortest || this.#patterns.some(([known]) => known === value)) return
    this.#patterns.push([value, patternOf(value)])
    this.#patterns.sort(([one], [other]) => other.length - one.length)
  }

  /** The text with every known secret hidden, in whatever encoding it stands. */
  hide (text: string): string {
    return this.#patterns.reduce((rest, [, pattern]) => rest.replace(pattern, HIDDEN), text)
  }

  /** The same, and with every value hidden that stands where a secret belongs. */
  mask (text: string): string {
    return this.hide(text).replace(SECRET_FIELDS, `$1${HIDDEN}`).replace(SECRET_PARAMETERS, `$1${HIDDEN}`)
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

/** Finds a secret whose characters are written as they are, or as a URL, a form, JSON or HTML writes them. */
function patternOf (value: string): RegExp {
  const pattern = Array.from(value, spellings).join('')
  const isShort = value.length < SHORTEST
  return new RegExp(isShort ? `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])` : pattern, 'giu')
}

function spellings (character: string): string {
  if (/[a-z0-9_~-]/i.test(character)) return character
  const point = character.codePointAt(0) as number
  const hex = point.toString(16)
  const html = [`#0*${point}`, `#x0*${hex}`, NAMED[character] ?? []].flat().map((name) => `&${name};`)
  const percent = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const json = Array.from({ length: character.length }, (_none, at) =>
    `\\\\+u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')
  const literal = `\\\\*${character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')}`
  return `(?:${[literal, percent, json, ...html, ...character === ' ' ? ['\\+'] : []].join('|')})`
}

/** Keeps what a reader needs (scheme, cookie names and attributes) and hides the values. */
function maskHeader (name: string, value: string): string {
  if (name === 'cookie') return value.replace(/=[^;]*/g, `=${HIDDEN}`)
  if (name === 'set-cookie') return value.replace(/=[^;]*/, `=${HIDDEN}`)
  return value.replace(/ .*/, ` ${HIDDEN}`)
}
