/** The parameters of a query or form: application/x-www-form-urlencoded (RFC 6749 appendix B). */
export class Parameters {
  /** Whether any name came more than once (RFC 6749 sections 3.1 and 3.2: MUST NOT). */
  repeated = false
  /** Whether a name or value is no valid percent-encoding of UTF-8. */
  malformed = false
  readonly #entries = new Map<string, { value: string, raw: string, repeated: boolean }>()

  /** Reads `a=1&b=2`. The text is taken from the wire itself: what the host's parsers make of it can hide repetitions. */
  constructor (text: string) {
    for (const pair of text.split('&')) {
      if (pair !== '') this.#add(pair)
    }
  }

  /** The decoded value; undefined when the parameter is absent or empty (RFC 6749 section 3.1: treated as omitted). */
  get (name: string): string | undefined {
    return this.#entries.get(name)?.value || undefined
  }

  /** The value as it was encoded on the wire. */
  raw (name: string): string | undefined {
    return this.#entries.get(name)?.raw || undefined
  }

  /** Whether it came with a value. One that came more than once had one, or may have had: only the last is kept. */
  has (name: string): boolean {
    return this.raw(name) !== undefined || this.isRepeated(name)
  }

  isRepeated (name: string): boolean {
    return this.#entries.get(name)?.repeated ?? false
  }

  #add (pair: string): void {
    const equals = pair.indexOf('=')
    const name = this.#decode(equals === -1 ? pair : pair.slice(0, equals))
    const raw = equals === -1 ? '' : pair.slice(equals + 1)
    const repeated = this.#entries.has(name)
    this.repeated ||= repeated
    this.#entries.set(name, { value: this.#decode(raw), raw, repeated })
  }

  #decode (encoded: string): string {
    if (!/[%+]/.test(encoded)) return encoded
    // Tried until it fails once: a failure for each part would cost seconds in a long text.
    const decoded = this.malformed ? null : formDecode(encoded)
    if (decoded !== null) return decoded
    this.malformed = true
    return decodeAscii(encoded)
  }
}

/** Decodes one form-encoded string; null when it is no valid encoding. */
export function formDecode (encoded: string): string | null {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** Decodes what is ASCII and leaves the rest as it is: what we look at in a query with a broken part is all ASCII. */
function decodeAscii (encoded: string): string {
  return encoded.replaceAll('+', ' ').replace(/%[0-7][0-9a-f]/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))
}

// What a query may not hold unencoded (RFC 3986 section 3.4) and a browser or URL parser would cut off or change.
const UNSAFE = /[^\x21\x24-\x3b\x3d\x3f-\x7e]/gu

/** The encoded text with nothing in it that could end the query it is put into; its decoded value stays the same. */
export function safeInQuery (encoded: string): string {
  return encoded.replace(UNSAFE, (character) => {
    // Node hands on each byte of the request line as one character.
    const bytes = Buffer.from(character, character <= '\xff' ? 'latin1' : 'utf8')
    return bytes.toString('hex').toUpperCase().replace(/../g, '%$&')
  })
}

/** The query part of a request target, without the question mark. */
export function queryOf (url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}
