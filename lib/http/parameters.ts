/** Parameters that are read, at most: as many as Node's own query parser reads by default. */
const MOST_PARAMETERS = 1000

/** The parameters of a query or form: application/x-www-form-urlencoded (RFC 6749 appendix B). */
export class Parameters {
  /** Whether there are more parameters than are read. */
  readonly excessive: boolean
  /** Whether the text is not valid percent-encoded UTF-8. */
  readonly malformed: boolean
  /** Whether any name occurs more than once (RFC 6749 sections 3.1 and 3.2: MUST NOT). */
  readonly repeated: boolean
  /** The parameters as they were encoded, without empty ones between two ampersands. */
  readonly #pairs: readonly string[]
  readonly #decoded: URLSearchParams
  /** The decoded names, in the order of the pairs. */
  readonly #names: readonly string[]

  /** Reads `a=1&b=2`. Pass the text from the wire: the host's parsers can hide repeated parameters. */
  constructor (text: string) {
    const pairs = text.split('&').filter((pair) => pair !== '')
    this.excessive = pairs.length > MOST_PARAMETERS
    this.malformed = !isEncoded(text)
    this.#pairs = pairs.slice(0, MOST_PARAMETERS)
    this.#decoded = decode(this.#pairs.join('&'))
    this.#names = [...this.#decoded.keys()]
    this.repeated = new Set(this.#names).size < this.#names.length
  }

  /** The decoded value; undefined when the parameter is absent or empty (RFC 6749 section 3.1: treated as omitted). */
  get (name: string): string | undefined {
    return this.#decoded.get(name) || undefined
  }

  /**
   * The value as it was encoded on the wire; undefined when the parameter is absent or empty. `URLSearchParams` has
   * decoded values only, and there are several ways to encode one.
   */
  raw (name: string): string | undefined {
    const pair = this.#pairs[this.#names.indexOf(name)]
    if (pair === undefined || !pair.includes('=')) return undefined
    return pair.slice(pair.indexOf('=') + 1) || undefined
  }

  /** Whether the parameter has a value, or occurs more than once. */
  has (name: string): boolean {
    return this.get(name) !== undefined || this.isRepeated(name)
  }

  /** Whether the parameter occurs more than once, with or without a value. */
  isRepeated (name: string): boolean {
    return this.repeated && this.#decoded.getAll(name).length > 1
  }
}

/** Decodes each name and value by itself: an invalid escape stays as it is, and changes nothing beside it. */
function decode (text: string): URLSearchParams {
  // `URLSearchParams` skips one question mark at the beginning, which is a part of the first name here.
  return new URLSearchParams(`?${text}`)
}

function isEncoded (text: string): boolean {
  try {
    // Fastify reads a byte of a body that is not UTF-8 as U+FFFD.
    return !decodeURIComponent(text).includes('\ufffd')
  } catch {
    return false
  }
}

/** Decodes one form-encoded string. An invalid escape stays as it is, or becomes U+FFFD. */
export function formDecode (encoded: string): string {
  return decode(`=${encoded.replaceAll('&', '%26')}`).get('') as string
}

// What would end the query, and what browsers and URL parsers cut off or change. Other characters stay as they came.
const UNSAFE = /[^\x21\x24-\x3b\x3d\x3f-\x7e]/g
const ESCAPES = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)

/**
 * Escapes everything that could end the query which the encoded text is put into: `a b#%20` becomes `a%20b%23%20`. Its
 * decoded value stays the same.
 */
export function safeInQuery (encoded: string): string {
  // Node passes on each byte of the request line as one character; another server may pass on characters.
  const bytes = /[^\0-\xff]/.test(encoded) ? Buffer.from(encoded).toString('latin1') : encoded
  return bytes.replace(UNSAFE, (byte) => ESCAPES[byte.charCodeAt(0)] as string)
}

/** The query part of a request target, without the question mark. */
export function queryOf (url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}
