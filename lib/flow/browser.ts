import type { CookieJar } from './cookies.ts'
import type { Integration } from './integration.ts'
import type { Exchange, Headers } from './wire.ts'
import { header, headerValues, isRedirect, statusOf } from './wire.ts'

const MOST_REDIRECTS = 10

/** Where following redirects ended. */
export type Arrival = {
  exchange: Exchange
  /** Address of the last request. */
  url: string
  /** Every exchange on the way, the last one included. Empty where a real browser went. */
  hops: Exchange[]
} &
  /** A redirect to the portal's callback. */
  (
    | { at: 'callback'; callbackUrl: string }
    /** A page, or another response that is not a redirect. */
    | { at: 'page' }
    /** A redirect out of the partner's application that is not the callback. */
    | { at: 'elsewhere'; location: string }
    /** More than ten redirects. */
    | { at: 'loop' }
    /** No response. */
    | { at: 'nowhere' }
  )

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
      const arrival = { exchange, url: step.url, hops }
      if (exchange.response === undefined) return { at: 'nowhere', ...arrival }
      const location = redirectTarget(exchange, step.url)
      if (location === null) {
        this.#page = step.url
        return { at: 'page', ...arrival }
      }
      if (isCallback(location, this.#redirectUri)) {
        return { at: 'callback', callbackUrl: location, ...arrival }
      }
      if (this.#leaves(location)) return { at: 'elsewhere', location, ...arrival }
      if (hops.length > MOST_REDIRECTS) return { at: 'loop', ...arrival }
      // RFC 9110 §15.4: only 307 and 308 keep the method, and with it the form.
      const keepsMethod = [307, 308].includes(statusOf(exchange))
      step = keepsMethod ? { ...step, url: location } : { url: location, method: 'GET' }
    }
  }

  /**
   * One request with the browser's cookies; no redirect is followed.
   *
   * @throws TypeError when the address is of another origin
   */
  async request (url: string, method: string, body?: string): Promise<Exchange> {
    const address = new URL(url)
    if (this.#leaves(url)) {
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
    const request = { method, url, headers, ...body !== undefined && { body } }
    const exchange = await this.#integration.send(request)
    for (const line of headerValues(exchange.response, 'set-cookie')) this.jar.take(line, address)
    return exchange
  }

  #leaves (url: string): boolean {
    return new URL(url).origin !== this.#integration.base.origin
  }
}

/** The absolute address that a response redirects to, or null when it is not a redirect. */
export function redirectTarget (exchange: Exchange, url: string): string | null {
  const location = header(exchange.response, 'location')
  const leads = isRedirect(statusOf(exchange)) && URL.canParse(location, url)
  return leads ? new URL(location, url).href : null
}

/** The address that the last response of an arrival redirects to; null without a redirect. */
export function targetOf (arrival: Arrival): string | null {
  if (arrival.at === 'callback') return arrival.callbackUrl
  return redirectTarget(arrival.exchange, arrival.url)
}

/** The code in the address that an arrival redirects to, the callback or not; null without one. */
export function codeOf (arrival: Arrival): string | null {
  const target = targetOf(arrival)
  return target === null ? null : new URL(target).searchParams.get('code')
}

/** Whether an address is the callback and has all parameters of the registered query. */
export function isCallback (address: string, redirectUri: URL): boolean {
  const url = new URL(address)
  const registered = [...redirectUri.searchParams]
  return (
    url.origin === redirectUri.origin &&
    url.pathname === redirectUri.pathname &&
    registered.every(([name, value]) => url.searchParams.getAll(name).includes(value))
  )
}
