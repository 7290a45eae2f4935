import type { CookieJar } from './cookies.ts'
import type { Integration } from './integration.ts'
import type { Exchange, Headers } from './wire.ts'
import { header, headerValues, isRedirect, statusOf } from './wire.ts'

const MOST_REDIRECTS = 10

/** What a browser sends by POST. */
export interface Posted {
  /** The media type of the body. */
  type: string
  body: string
  /** Beside those that a browser sends. */
  headers: Headers
}

/** Where following redirects ended. */
export interface Arrival {
  /**
   * A redirect to the portal's callback; a page, or another response that is not a redirect; a
   * redirect out of the partner's application; more than ten redirects; no response.
   */
  at: 'callback' | 'page' | 'elsewhere' | 'loop' | 'nowhere'
  exchange: Exchange
  /** Address of the last request. */
  url: string
  /** Where its response redirects to; null where it does not. */
  target: URL | null
  /** Every exchange on the way, the last one included. Empty where a real browser went. */
  hops: Exchange[]
}

/**
 * Plays the user's browser: keeps cookies, follows redirects inside the partner's application,
 * stops at the portal's callback. It sends requests to the application's origin only, and so the
 * user's cookies and headers.
 */
export class Browser {
  readonly jar: CookieJar
  /** What was typed into login pages: no text that is shown has it. */
  readonly typed: Set<string>
  readonly #integration: Integration
  readonly #headers: Headers
  /** The page whose form is sent. */
  #page: string

  /**
   * @param headers - sent with every request to the partner's application, for users known by a
   * header
   * @param typed - collects what is typed; several browsers may share it
   */
  constructor (integration: Integration, jar: CookieJar, headers: Headers = [], typed = new Set<string>()) {
    this.#integration = integration
    this.jar = jar
    this.typed = typed
    this.#page = integration.base.href
    this.#headers = headers
  }

  /**
   * Opens an address of the application as a person would and follows at most ten redirects.
   *
   * @param posted - sent with POST; without it the method is GET
   * @param before - the exchanges that led to this address
   */
  async open (url: string, posted?: Posted, before: Exchange[] = []): Promise<Arrival> {
    const exchange = await this.request(url, posted)
    const hops = [...before, exchange]
    const target = redirectTarget(exchange)
    const at = this.#endOf(exchange, target, hops.length)
    if (at === 'page') this.#page = url
    if (at !== null) {
      return { at, exchange, url, target, hops }
    }
    // RFC 9110 section 15.4: only 307 and 308 keep the method, and with it the body.
    const isKept = [307, 308].includes(statusOf(exchange))
    return this.open(String(target), isKept ? posted : undefined, hops)
  }

  /** Where a browser ends with this response; null: it follows the redirect. */
  #endOf (
    exchange: Exchange,
    target: URL | null,
    hops: number
  ): Arrival['at'] | null {
    if (exchange.response === undefined) return 'nowhere'
    if (target === null) return 'page'
    if (isCallback(target, this.#integration.redirectUri)) return 'callback'
    if (this.#leaves(target)) return 'elsewhere'
    return hops > MOST_REDIRECTS ? 'loop' : null
  }

  /**
   * One request with the browser's cookies; no redirect is followed.
   *
   * @param posted - sent with POST; without it the method is GET
   * @throws TypeError when the address is of another origin
   */
  async request (url: string, posted?: Posted): Promise<Exchange> {
    const address = new URL(url)
    if (this.#leaves(address)) {
      throw new TypeError(`${address.origin} is not the service: nothing is sent there`)
    }
    const cookie = this.jar.header(address)
    const headers: Headers = [
      ['Accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
      ...cookie === '' ? [] : [['Cookie', cookie] as const],
      ...this.#headers,
      ...posted === undefined ? [] : this.#headersOf(posted)
    ]
    const method = posted === undefined ? 'GET' : 'POST'
    const exchange = await this.#integration.send({ method, url, headers, body: posted?.body })
    for (const line of headerValues(exchange.response, 'set-cookie')) {
      this.jar.take(line, address)
    }
    return exchange
  }

  /** Some apps compare Origin and Referer, against forms of other sites. */
  #headersOf ({ type, headers }: Posted): Headers {
    return [
      ['Content-Type', type],
      ['Origin', this.#integration.base.origin],
      ['Referer', this.#page],
      ...headers
    ]
  }

  #leaves (address: URL): boolean {
    return address.origin !== this.#integration.base.origin
  }
}

/** A form as a browser sends it. */
export const formPosted = (fields: Iterable<[name: string, value: string]>): Posted => ({
  type: 'application/x-www-form-urlencoded',
  body: new URLSearchParams([...fields]).toString(),
  headers: []
})

/** The address that a response redirects to, or null when it is not a redirect. */
export function redirectTarget (exchange: Exchange): URL | null {
  const location = header(exchange.response, 'location')
  const { url } = exchange.request
  return isRedirect(statusOf(exchange)) && URL.canParse(location, url)
    ? new URL(location, url)
    : null
}

/** The code in the address that an arrival redirects to, the callback or not; null without one. */
export const codeOf = ({ target }: Arrival): string | null =>
  target?.searchParams.get('code') ?? null

/** Whether an address is the callback and has all parameters of the registered query. */
export function isCallback (
  { origin, pathname, searchParams }: URL,
  redirectUri: string
): boolean {
  const registered = new URL(redirectUri)
  return (
    origin === registered.origin &&
    pathname === registered.pathname &&
    [...registered.searchParams]
      .every(([name, value]) => searchParams.getAll(name).includes(value))
  )
}
