import { formEncoded } from './requests.ts'
import type { Exchange, Headers, WireRequest, WireResponse } from './wire.ts'

const HIDDEN = '••••••••'
const SHORTEST = 4
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'set-cookie', 'proxy-authorization'])
const SECRET_FIELDS =
  /("(?:access_token|refresh_token|id_token|client_secret|code_verifier)"\s*:\s*")[^"]*/g
const SECRET_PARAMETERS =
  /((?:^|[?&;\s])(?:access_token|client_secret|code|code_verifier)=)[^&\s"'<]*/g

/** Knows the secrets of a sign-in and hides them in everything that is shown or written. */
export class Secrets {
  /** What finds each secret in a text. */
  readonly #known = new Map<string, string | RegExp>()

  /**
   * Remembers a secret of one sign-in, as it is and as a form has it. Values of fewer than four
   * characters are not hidden: that would hide half of the text.
   */
  add (value: string): void {
    if (value.length < SHORTEST) return
    for (const text of [value, formEncoded(value)]) {
      if (!this.#known.has(text)) this.#known.set(text, text)
    }
  }

  /** Remembers a secret that outlives the sign-in. It is found in every encoding. */
  addForGood (value: string): void {
    this.#known.set(value, everySpelling(value))
  }

  /** The text with all known secrets hidden, and the value of each field that holds a secret. */
  mask (text: string): string {
    // A secret may contain another.
    const longestFirst = [...this.#known].sort(([one], [other]) => other.length - one.length)
    return longestFirst
      .reduce((rest, [, known]) => rest.replaceAll(known, HIDDEN), text)
      .replace(SECRET_FIELDS, `$1${HIDDEN}`)
      .replace(SECRET_PARAMETERS, `$1${HIDDEN}`)
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

/** A pattern for a secret in every encoding. */
function everySpelling (secret: string): RegExp {
  // One backslash for several: each of them may be doubled, and the time would grow with their power.
  const every = [...secret.replace(/\\+/g, '\\')].map(spellingsOf).join('')
  const hex = Buffer.from(secret).toString('hex')
  return new RegExp([every, hex, ...base64Of(secret)].join('|'), 'gi')
}

/** A secret in Base64 and Base64url, where it begins at each of the three bytes of a group. */
function base64Of (secret: string): string[] {
  const length = Buffer.byteLength(secret)
  return [0, 1, 2].map((start) => {
    const text = Buffer.from('-'.repeat(start) + secret).toString('base64')
    // The characters that have bits of the secret only, and the one that has bits of the next byte.
    const own = text.slice(Math.ceil(start * 8 / 6), Math.floor((start + length) * 8 / 6))
      .replaceAll('+', `(?:-|${spellingsOf('+')})`)
      .replaceAll('/', `(?:_|${spellingsOf('/')})`)
    return `${own}[\\w+/-]?={0,2}`
  })
}

/**
 * A character as it is, or as a URL, a form, JSON or HTML writes it, also encoded again and again.
 * At each place in a text at most one spelling matches: the time is linear in the text's length.
 *
 * @example
 * spellingsOf('/') // finds: /  \/  %2F  %252f  &#47;  &#x2F  &sol;  &amp;#47;  \u002f
 */
function spellingsOf (character: string): string {
  const literal = character.replace(/[$()*+.?[\]^{|}\\]/, '\\$&')
  const space = character === ' ' ? '|\\+' : ''
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${hexOf(byte, 2)}`).join('')
  const units = character.split('').map((unit) => hexOf(unit.charCodeAt(0), 4))
  const script = units.map((unit) => `\\\\{1,6}u${unit}`).join('')
  return `(?:\\\\{0,3}(?:${literal}${space}|${percent}|${referenceOf(character)})|${script})`
}

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
