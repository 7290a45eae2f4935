import type { CookieJar } from './cookies.ts'
import type { Integration } from './integration.ts'
import type { Exchange, Headers } from './wire.ts'
import { header, headerValues, isRedirect, statusOf } from './wire.ts'

const MOST_REDIRECTS = 10

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

interface Step {
  url: string
  method: string
  body?: string | undefined
}

/**
 * Plays the user's browser: keeps cookies, follows redirects inside the partner's application,
 * stops at the portal's callback. It sends requests to the application's origin only, and so the
 * user's cookies and headers.
 */
export class Browser {
  readonly jar: CookieJar
  readonly #integration: Pick<Integration, 'base' | 'send'>
  readonly #headers: Headers
  readonly #redirectUri: URL
  /** The page whose form is sent. */
  #page: string

  /**
   * @param headers - sent with every request to the partner's application, for users known by a
   * header
   */
  constructor (
    integration: Pick<Integration, 'base' | 'redirectUri' | 'send'>,
    jar: CookieJar,
    headers: Headers = []
  ) {
    this.#integration = integration
    this.#redirectUri = new URL(integration.redirectUri)
    this.jar = jar
    this.#page = integration.base.href
    this.#headers = headers
  }

  /** Opens an address of the application as a person would and follows at most ten redirects. */
  async open (url: string, method = 'GET', body?: string): Promise<Arrival> {
    const hops: Exchange[] = []
    let step: Step = { url, method, body }
    for (;;) {
      const exchange = await this.request(step.url, step.method, step.body)
      hops.push(exchange)
      const target = redirectTarget(exchange)
      const at = this.#endOf(exchange, target, hops.length)
      if (at === 'page') this.#page = step.url
      if (at !== null) return { at, exchange, url: step.url, target, hops }
      // RFC 9110 §15.4: only 307 and 308 keep the method, and with it the form.
      const kept = [307, 308].includes(statusOf(exchange)) ? step : { method: 'GET' }
      step = { ...kept, url: String(target) }
    }
  }

  /** Where a browser ends with this response; null: it follows the redirect. */
  #endOf (exchange: Exchange, target: URL | null, hops: number): Arrival['at'] | null {
    if (exchange.response === undefined) return 'nowhere'
    if (target === null) return 'page'
    if (isCallback(target, this.#redirectUri)) return 'callback'
    if (this.#leaves(target)) return 'elsewhere'
    return hops > MOST_REDIRECTS ? 'loop' : null
  }

  /**
   * One request with the browser's cookies; no redirect is followed.
   *
   * @throws TypeError when the address is of another origin
   */
  async request (url: string, method: string, body?: string): Promise<Exchange> {
    const address = new URL(url)
    if (this.#leaves(address)) {
      throw new TypeError(`${address.origin} is not the service: nothing is sent there`)
    }
    const headers: Array<readonly [name: string, value: string]> = [
      ['Accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8']
    ]
    const cookie = this.jar.header(address)
    if (cookie !== '') headers.push(['Cookie', cookie])
    headers.push(...this.#headers)
    if (body !== undefined) {
      // Some apps compare the last two, against forms of other sites.
      headers.push(
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Origin', this.#integration.base.origin],
        ['Referer', this.#page]
      )
    }
    const exchange = await this.#integration.send({ method, url, headers, body })
    for (const line of headerValues(exchange.response, 'set-cookie')) this.jar.take(line, address)
    return exchange
  }

  #leaves (address: URL): boolean {
    return address.origin !== this.#integration.base.origin
  }
}

/** The address that a response redirects to, or null when it is not a redirect. */
export function redirectTarget (exchange: Exchange): URL | null {
  const location = header(exchange.response, 'location')
  const { url } = exchange.request
  const leads = isRedirect(statusOf(exchange)) && URL.canParse(location, url)
  return leads ? new URL(location, url) : null
}

/** The code in the address that an arrival redirects to, the callback or not; null without one. */
export const codeOf = ({ target }: Arrival): string | null =>
  target?.searchParams.get('code') ?? null

/** Whether an address is the callback and has all parameters of the registered query. */
export const isCallback = (address: URL, redirectUri: URL): boolean =>
  address.origin === redirectUri.origin &&
  address.pathname === redirectUri.pathname &&
  [...redirectUri.searchParams].every(([name, value]) => address.searchParams.getAll(name).includes(value))
