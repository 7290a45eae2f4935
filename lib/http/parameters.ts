/** Parameters that are read, at most: as many as Node's own query parser reads by default. */
const MOST_PARAMETERS = 1000

/** One parameter. */
interface Entry {
  /** The value as it was encoded. */
  raw: string
  repeated: boolean
}

/** The parameters of a query or form: application/x-www-form-urlencoded (RFC 6749 appendix B). */
export class Parameters {
  /** Whether any name occurs more than once (RFC 6749 sections 3.1 and 3.2: MUST NOT). */
  repeated = false
  /** Whether there are more parameters than are read. */
  excessive = false
  /** Whether a name or value is not valid percent-encoded UTF-8. */
  malformed: boolean
  readonly #entries = new Map<string, Entry>()

  /** Reads `a=1&b=2`. Pass the text from the wire: the host's parsers can hide repeated parameters. */
  constructor (text: string) {
    // Fastify reads a byte of a body that is not UTF-8 as U+FFFD.
    this.malformed = text.includes('\ufffd')
    let count = 0
    for (let start = 0, end; start < text.length; start = end + 1) {
      end = text.indexOf('&', start)
      if (end === -1) end = text.length
      if (end === start) continue
      if (count++ === MOST_PARAMETERS) {
        this.excessive = true
        return
      }
      this.#add(text.slice(start, end))
    }
  }

  /** The decoded value; undefined when the parameter is absent or empty (RFC 6749 section 3.1: treated as omitted). */
  get (name: string): string | undefined {
    const raw = this.raw(name)
    return raw === undefined ? undefined : this.#decode(raw)
  }

  /** The value as it was encoded on the wire; undefined when the parameter is absent or empty. */
  raw (name: string): string | undefined {
    return this.#entries.get(name)?.raw || undefined
  }

  /** Whether the parameter has a value. A repeated one counts: only its last value is kept. */
  has (name: string): boolean {
    return this.raw(name) !== undefined || this.isRepeated(name)
  }

  isRepeated (name: string): boolean {
    return this.#entries.get(name)?.repeated ?? false
  }

  #add (pair: string): void {
    // An escape cannot span two parameters. One invalid parameter makes the whole text malformed.
    this.malformed ||= percentDecode(pair) === null
    const equals = pair.indexOf('=')
    const name = this.#decode(equals === -1 ? pair : pair.slice(0, equals))
    const repeated = this.#entries.has(name)
    this.repeated ||= repeated
    this.#entries.set(name, { raw: equals === -1 ? '' : pair.slice(equals + 1), repeated })
  }

  #decode (encoded: string): string {
    if (!/[%+]/.test(encoded)) return encoded
    return (this.malformed ? null : formDecode(encoded)) ?? decodeAscii(encoded)
  }
}

/** Decodes one form-encoded string; null when it is not valid. */
export function formDecode (encoded: string): string | null {
  // For thousands of plus signs this takes half the time of `replaceAll`.
  return percentDecode(encoded.split('+').join(' '))
}

function percentDecode (encoded: string): string | null {
  if (!encoded.includes('%')) return encoded
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}

/** Decodes the escapes of ASCII characters and keeps the others: every value that we compare is ASCII. */
function decodeAscii (encoded: string): string {
  return formDecode(encoded.replace(/%(?![0-7][0-9a-f])/gi, '%25')) as string
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
