import type { Integration } from './integration.ts'
import { basicCredentials, formEncoded } from './requests.ts'
import type { Exchange, Headers, WireRequest, WireResponse } from './wire.ts'

const HIDDEN = '••••••••'
const SHORTEST = 4
/** What is secret in a header. Scheme, cookie names and attributes are shown. */
const IN_HEADERS = new Map([
  ['authorization', /(?<= ).*/],
  ['proxy-authorization', /(?<= ).*/],
  ['cookie', /(?<==)[^;]*/g],
  ['set-cookie', /(?<==)[^;]*/]
])
const FIELDS =
  /(?<="(?:access_token|refresh_token|id_token|client_secret|code_verifier)"\s*:\s*")[^"]*/g
const PARAMETERS =
  /(?<=(?:^|[?&;\s])(?:access_token|client_secret|code|code_verifier)=)[^&\s"'<]*/g

/** Knows the secrets of a sign-in and hides them in everything that is shown or written. */
export class Secrets {
  /** What finds each secret in a text. */
  readonly #known = new Map<string, string | RegExp>()

  /** The client secret outlives the sign-in: it is found in every encoding. */
  constructor ({ clientId, clientSecret }: Pick<Integration, 'clientId' | 'clientSecret'>) {
    this.#known.set(clientSecret, everySpelling(clientSecret))
    this.add(basicCredentials(clientId, clientSecret))
  }

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

  /** The text with all known secrets hidden, and the value of each field that holds a secret. */
  mask (text: string): string {
    // A secret may contain another.
    const longestFirst = [...this.#known]
      .sort(([one], [other]) => other.length - one.length)
      .map(([, known]) => known)
    return [...longestFirst, FIELDS, PARAMETERS]
      .reduce<string>((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
  }

  /** The exchange with its secrets hidden, ready to be shown, logged or printed. */
  maskExchange (exchange: Exchange): Exchange {
    const { request, response } = exchange
    return {
      ...exchange,
      request: {
        ...this.#maskContent(request),
        url: this.mask(request.url)
      },
      response: response && this.#maskContent(response)
    }
  }

  #maskContent<Message extends WireRequest | WireResponse> (message: Message): Message {
    const headers = message.headers.map(([name, value]): Headers[number] => {
      const secret = IN_HEADERS.get(name.toLowerCase())
      return [name, secret === undefined ? this.mask(value) : value.replace(secret, HIDDEN)]
    })
    return { ...message, headers, body: this.mask(message.body ?? '') }
  }
}

/** A pattern for a secret in every encoding. */
function everySpelling (secret: string): RegExp {
  // One backslash for several: each of them may be doubled, and the time would grow with their power.
  const characters = [...secret.replace(/\\+/g, '\\')]
  const spellings = [
    characters.map(spellingsOf).join(''),
    Buffer.from(secret).toString('hex'),
    ...base64Of(secret),
    ...base64Of(formEncoded(secret))
  ]
  return new RegExp(spellings.join('|'), 'gi')
}

/** A secret in Base64 and Base64url, where it begins at each of the three bytes of a group. */
function base64Of (secret: string): string[] {
  return [0, 1, 2].map((start) => {
    const text = Buffer.from('-'.repeat(start) + secret).toString('base64')
    // The characters that have bits of the secret only, and the one that has bits of the next byte.
    const from = Math.ceil(start * 8 / 6)
    const end = Math.floor((start + Buffer.byteLength(secret)) * 8 / 6)
    const own = text
      .slice(from, end)
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
  const point = character.codePointAt(0) as number
  const bytes = [...Buffer.from(character)]
    .map((byte) => `%(?:25)*${hexOf(byte, 2)}`)
  const units = character
    .split('')
    .map((unit) => `u${hexOf(unit.charCodeAt(0), 4)}`)
  // Letters and digits have no named reference. Any name matches any other character.
  const name = /[a-z0-9]/i.test(character) ? '' : '|[a-z][a-z0-9]{1,30}'
  const spellings = [
    character === ' ' ? ' |\\+' : character.replace(/[$()*+.?[\]^{|}\\]/, '\\$&'),
    bytes.join(''),
    `&(?:amp;)*(?:#0*${point}|#x0*${hexOf(point, 1)}${name});?`,
    units.join('\\\\{1,6}')
  ]
  return `\\\\{0,6}(?:${spellings.join('|')})`
}

const hexOf = (number: number, digits: number): string =>
  number.toString(16).padStart(digits, '0')
