import type { Exchange, Headers, WireRequest, WireResponse } from './wire.ts'

const HIDDEN = '••••••••'
const SHORTEST = 4
/** A longer secret is found part by part: the size of a regular expression has a limit. */
const PARTS = new RegExp(`.{${SHORTEST},1000}`, 'gsu')
/** A character that a URL, a form, JSON or HTML may encode. */
const SPECIAL = /[^\w~-]/
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'set-cookie', 'proxy-authorization'])
const SECRET_FIELDS =
  /("(?:access_token|refresh_token|id_token|client_secret|code_verifier)"\s*:\s*")[^"]*/g
const SECRET_PARAMETERS =
  /((?:^|[?&;\s])(?:access_token|client_secret|code|code_verifier)=)[^&\s"'<]*/g

/** Knows the secrets of a sign-in and hides them in everything that is shown or written. */
export class Secrets {
  /** A pattern for each secret. */
  readonly #known = new Map<string, string | RegExp>()

  /**
   * Remembers a secret. Values of fewer than four characters are not hidden: that would hide half
   * of the text.
   */
  add (value: string): void {
    for (const part of value.match(PARTS) ?? []) {
      if (this.#known.has(part)) continue
      this.#known.set(part, SPECIAL.test(part) ? new RegExp(spellings(part, SPECIAL), 'gi') : part)
    }
  }

  /**
   * Remembers a secret that outlives the sign-in. It is found in Base64, with any of its characters
   * encoded, and also when it is short.
   */
  addForGood (value: string): void {
    if (value !== '') this.#known.set(value, everySpelling(value))
  }

  /**
   * The text with every known secret hidden, in whatever encoding, and the value of every field and
   * parameter that holds secrets.
   */
  mask (text: string): string {
    // A secret may contain another.
    const longestFirst = [...this.#known].sort(([one], [other]) => other.length - one.length)
    return longestFirst.reduce((rest, [, pattern]) => rest.replaceAll(pattern, HIDDEN), text)
      .replace(/•{9,}/g, HIDDEN)
      .replace(SECRET_FIELDS, `$1${HIDDEN}`).replace(SECRET_PARAMETERS, `$1${HIDDEN}`)
  }

  /** The exchange with its secrets hidden, ready to be shown, logged or printed. */
  maskExchange ({ request, response, ...others }: Exchange): Exchange {
    const masked = {
      ...others, request: { ...this.#maskContent(request), url: this.mask(request.url) }
    }
    return response === undefined ? masked : { ...masked, response: this.#maskContent(response) }
  }

  #maskContent<Message extends WireRequest | WireResponse> (message: Message): Message {
    const headers = message.headers.map(([name, value]): Headers[number] => {
      const lower = name.toLowerCase()
      return [name, SECRET_HEADERS.has(lower) ? maskHeader(lower, value) : this.mask(value)]
    })
    return {
      ...message,
      headers,
      ...message.body === undefined
        ? {}
        : { body: this.mask(message.body) }
    }
  }
}

/** A pattern for a secret in every encoding. It matches a short secret as a whole word only. */
function everySpelling (value: string): RegExp {
  const every = spellings(value, /./su)
  if (value.length < SHORTEST) {
    return new RegExp(`(?<![\\p{L}\\p{N}])${every}(?![\\p{L}\\p{N}])`, 'giu')
  }
  const hex = spellings(Buffer.from(value).toString('hex'), SPECIAL)
  // The last character may have bits of the secret and of what follows it.
  const base64 = base64Of(value).map((one) => `${spellings(one, SPECIAL)}[\\w+/-]?={0,2}`)
  return new RegExp([every, hex, ...base64].join('|'), 'gi')
}

/** Bytes of a secret that is found within a longer text in Base64; a shorter one only alone. */
const SHORTEST_WITHIN = 8

/** A secret in Base64, where it begins at each of the three bytes of a group. */
function base64Of (value: string): string[] {
  const { length } = Buffer.from(value)
  const starts = length < SHORTEST_WITHIN ? [0] : [0, 1, 2]
  return (['base64', 'base64url'] as const).flatMap((name) => starts.map((start) => {
    const text = Buffer.from(`${'-'.repeat(start)}${value}`).toString(name)
    // The characters that have bits of the secret only.
    return text.slice(Math.ceil(start * 8 / 6), Math.floor((start + length) * 8 / 6))
  }))
}

/**
 * A pattern for a secret of which some characters may be encoded. At each place in a text at most
 * one spelling of a character matches, so that the time is linear in the length of the text.
 */
const spellings = (value: string, encoded: RegExp): string =>
  value.replace(/(\\+)|./gsu, (character, backslashes?: string) => {
    if (backslashes !== undefined) return spellingsOfBackslashes(backslashes.length)
    return encoded.test(character) ? spellingsOf(character) : character
  })

/**
 * A character as it is, or as a URL, a form, JSON, JavaScript or HTML writes it, also encoded again
 * and again.
 *
 * @example
 * spellingsOf('/') // finds: /  \/  %2F  %252f  &#47;  &#x2F  &sol;  &amp;#47;  \u002f  \\x2F
 */
function spellingsOf (character: string): string {
  const literal = character.replace(/[$()*+.?[\]^{|}/]/, '\\$&')
  const space = character === ' ' ? '|\\+' : ''
  const encoded = `${literal}|${percentOf(character)}|${referenceOf(character)}${space}`
  const units = character.split('').map((unit) => unit.charCodeAt(0))
  const script = units.map((unit) => `\\\\{1,6}(?:u${hexOf(unit, 4)}|x${hexOf(unit, 2)})`).join('')
  return `(?:\\\\{0,3}(?:${encoded})|${script})`
}

/**
 * Adjacent backslashes. JSON doubles them, so any number of them matches. A match starts at the
 * first one only: a try at each of a million backslashes would take quadratic time.
 *
 * @example
 * spellingsOfBackslashes(2) // finds: \\  \\\\  %5C%5c  \u005c\x5C  &#92;&bsol;  \%5c
 */
function spellingsOfBackslashes (count: number): string {
  const literal = '(?<!\\\\)\\\\+(?:u005c|x5c)?'
  return `(?:${literal}|${percentOf('\\')}|${referenceOf('\\')}){1,${8 * count}}`
}

/** `%2F`, `%252F` … */
const percentOf = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%(?:25)*${hexOf(byte, 2)}`).join('')

/**
 * `&#47;`, `&#x2f`, `&sol;`, `&amp;#47;` … Letters and digits have no named reference; any name
 * matches any other character.
 */
function referenceOf (character: string): string {
  const point = character.codePointAt(0) as number
  const name = /[a-z0-9]/i.test(character) ? '' : '|[a-z][a-z0-9]{1,30}'
  return `&(?:amp;)*(?:#0*${point}|#x0*${hexOf(point, 1)}${name});?`
}

const hexOf = (number: number, digits: number): string => number.toString(16).padStart(digits, '0')

/** Keeps what a reader needs (scheme, cookie names and attributes) and hides the values. */
function maskHeader (name: string, value: string): string {
  if (name === 'cookie') return value.replace(/=[^;]*/g, `=${HIDDEN}`)
  if (name === 'set-cookie') return value.replace(/=[^;]*/, `=${HIDDEN}`)
  return value.replace(/ .*/, ` ${HIDDEN}`)
}
