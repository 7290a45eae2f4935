import { unescape } from 'node:querystring'

/** Parameters that are read, at most: as many as Node's own query parser reads by default. */
const MOST_PARAMETERS = 1000

/** The parameters of a query or form: application/x-www-form-urlencoded (RFC 6749 appendix B). */
export class Parameters {
  /** Whether there are more parameters than are read. */
  readonly excessive: boolean
  /** Whether the text is not valid percent-encoded UTF-8. Names are not decoded then. */
  readonly malformed: boolean
  /** The values by their names, as they were encoded. */
  readonly #values = new Map<string, string>()
  readonly #repeated = new Set<string>()

  /** Reads `a=1&b=2`. Pass the text from the wire: the host's parsers can hide repeated parameters. */
  constructor (text: string) {
    const pairs = text.split('&').filter((pair) => pair !== '')
    this.excessive = pairs.length > MOST_PARAMETERS
    this.malformed = !isEncoded(text)
    for (const pair of pairs.slice(0, MOST_PARAMETERS)) {
      const equals = pair.includes('=') ? pair.indexOf('=') : pair.length
      const encoded = pair.slice(0, equals)
      const name = this.malformed ? encoded : formDecode(encoded)
      if (this.#values.has(name)) this.#repeated.add(name)
      this.#values.set(name, pair.slice(equals + 1))
    }
  }

  /** Whether any name occurs more than once (RFC 6749 sections 3.1 and 3.2: MUST NOT). */
  get repeated (): boolean {
    return this.#repeated.size > 0
  }

  /** The decoded value; undefined when the parameter is absent or empty (RFC 6749 section 3.1: treated as omitted). */
  get (name: string): string | undefined {
    const raw = this.raw(name)
    return raw === undefined ? undefined : formDecode(raw)
  }

  /** The value as it was encoded on the wire; undefined when the parameter is absent or empty. */
  raw (name: string): string | undefined {
    return this.#values.get(name) || undefined
  }

  /** Whether the parameter has a value. A repeated one counts: only its last value is kept. */
  has (name: string): boolean {
    return this.raw(name) !== undefined || this.isRepeated(name)
  }

  isRepeated (name: string): boolean {
    return this.#repeated.has(name)
  }
}

function isEncoded (text: string): boolean {
  try {
    // Fastify reads a byte of a body that is not UTF-8 as U+FFFD.
    return !decodeURIComponent(text).includes('\ufffd')
  } catch {
    return false
  }
}

/** Decodes one form-encoded string. What is not valid stays as it is, or becomes U+FFFD. */
export function formDecode (encoded: string): string {
  return /[%+]/.test(encoded) ? unescape(encoded.replaceAll('+', ' ')) : encoded
}

// What a query must not contain unencoded (RFC 3986 section 3.4), and what browsers and URL parsers cut off or change.
const UNSAFE = /[^\x21\x24-\x3b\x3d\x3f-\x7e]/g
const ESCAPES = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)

/** Escapes everything that could end the query which the encoded text is put into. Its decoded value stays the same. */
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
