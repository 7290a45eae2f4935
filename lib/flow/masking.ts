import { decoded } from './html.ts'
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
  readonly #clientSecret: string

  /** The client secret outlives the sign-in: no text has it in any encoding. */
  constructor ({ clientId, clientSecret }: Pick<Integration, 'clientId' | 'clientSecret'>) {
    this.#clientSecret = clientSecret
    for (const text of spellingsOf(clientSecret)) this.#known.set(text, new RegExp(literally(text), 'gi'))
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

  /**
   * The text with all known secrets hidden, and the value of each field that holds a secret. Of a
   * text that has the client secret in another encoding than those of a URL, a form and JSON,
   * nothing is shown.
   */
  mask (text: string): string {
    // A secret may contain another.
    const longestFirst = [...this.#known]
      .sort(([one], [other]) => other.length - one.length)
      .map(([, known]) => known)
    const masked = [...longestFirst, FIELDS, PARAMETERS]
      .reduce<string>((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
    const shown = withoutCutSecret(masked, this.#clientSecret)
    return isIn(shown, this.#clientSecret) ? HIDDEN : shown
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

/** A secret as it is, and as a URL, a form and JSON have it. */
const spellingsOf = (secret: string): string[] =>
  [secret, formEncoded(secret), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]

/** A pattern that matches nothing but the text. */
const literally = (text: string): string =>
  text.replace(/[$()*+.?[\]^{|}\\]/g, '\\$&')

/** Hides the beginning of the secret where a text was cut within it: before `…`, or the end of a quotation. */
function withoutCutSecret (text: string, secret: string): string {
  if (!/[…”]/.test(text)) return text
  let rest = text
  for (let length = secret.length - 1; length >= SHORTEST; length--) {
    const beginning = secret.slice(0, length)
    for (const mark of ['…', '”']) rest = rest.replaceAll(beginning + mark, HIDDEN + mark)
  }
  return rest
}

/** Encodings of encodings that are undone. No honest text has so many. */
const DEEPEST = 8

/**
 * Whether a text has the secret, however it is encoded: HTML references, percent-encoding and escapes of JSON, also of
 * each other; within a longer text in Base64 or hex.
 */
function isIn (text: string, secret: string): boolean {
  const plain = undone(text)
  const readings = [plain, ...fromBase64(plain), ...fromHex(plain)].map(undone)
  const needle = lettersOf(secret)
  // A secret of hardly any letter is looked for as it is.
  if (needle.length < SHORTEST) return readings.some((reading) => reading.includes(secret))
  return readings.some((reading) =>
    lettersOf(reading).includes(needle) || lettersOf(reading.replace(/&[a-z]\w{0,30};/gi, '')).includes(needle))
}

/** Letters and digits: what an encoding does to the other characters does not matter. */
const lettersOf = (text: string): string =>
  text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

/** The text with every encoding of single characters undone, until none is left. */
function undone (text: string): string {
  let rest = text
  for (let depth = 0; depth < DEEPEST; depth++) {
    const before = rest
    rest = decoded(rest)
      .replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
      .replace(/\\{1,6}(?:u([\da-f]{4})|x([\da-f]{2}))/gi, (_all, unit?: string, byte?: string) =>
        String.fromCharCode(parseInt(unit ?? String(byte), 16)))
    if (rest === before) break
  }
  return rest
}

/** What is encoded in Base64 or Base64url, wherever it begins within a group of four characters. */
const fromBase64 = (text: string): string[] =>
  (text.match(/[\w+/-]{8,}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString()))

const fromHex = (text: string): string[] =>
  (text.match(/[\da-f]{8,}/gi) ?? []).flatMap((run) =>
    [0, 1].map((start) => Buffer.from(run.slice(start), 'hex').toString()))
