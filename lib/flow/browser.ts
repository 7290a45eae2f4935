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

type Step = Arrival extends infer One ? (One extends unknown ? Omit<One, 'hops'> : never) : never

interface Redirect {
  next: string
  method: string
  body: string | undefined
  exchange: Exchange
  url: string
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

  /** Whether the browser would leave the partner's application for this address. */
  leaves (url: string): boolean {
    return new URL(url).origin !== this.#integration.base.origin
  }

  /** Opens an address of the application as a person would and follows at most ten redirects. */
  async open (url: string, method = 'GET', body?: string): Promise<Arrival> {
    let step = await this.#step(url, method, body)
    const hops = [step.exchange]
    while ('next' in step) {
      if (hops.length > MOST_REDIRECTS) {
        return { at: 'loop', exchange: step.exchange, url: step.url, hops }
      }
      step = await this.#step(step.next, step.method, step.body)
      hops.push(step.exchange)
    }
    if (step.at === 'page') this.#page = step.url
    return { ...step, hops } as Arrival
  }

  async #step (url: string, method: string, body: string | undefined): Promise<Step | Redirect> {
    const exchange = await this.request(url, method, body)
    if (exchange.response === undefined) return { at: 'nowhere', exchange, url }
    const location = redirectTarget(exchange, url)
    if (location === null) return { at: 'page', exchange, url }
    if (isCallback(location, this.#redirectUri)) {
      return { at: 'callback', callbackUrl: location, exchange, url }
    }
    if (this.leaves(location)) return { at: 'elsewhere', location, exchange, url }
    // RFC 9110 §15.4: only 307 and 308 keep the method, and with it the form.
    const sent = [307, 308].includes(statusOf(exchange))
      ? { method, body }
      : { method: 'GET', body: undefined }
    return { next: location, ...sent, exchange, url }
  }

  /**
   * One request with the browser's cookies; no redirect is followed.
   *
   * @throws TypeError when the address is of another origin
   */
  async request (url: string, method: string, body?: string): Promise<Exchange> {
    const address = new URL(url)
    if (this.leaves(url)) {
      throw new TypeError(`${address.origin} is not the service: nothing is sent there`)
    }
    const cookie = this.jar.header(address)
    const headers: Headers = [
      ['Accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
      ...(cookie === '' ? [] : [['Cookie', cookie] as const]),
      ...this.#headers
    ]
    // Some apps compare the last two, against forms of other sites.
    const form: Headers = [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Origin', this.#integration.base.origin],
      ['Referer', this.#page]
    ]
    const request = body === undefined ? { headers } : { headers: [...headers, ...form], body }
    const exchange = await this.#integration.send({ method, url, ...request })
    for (const line of headerValues(exchange.response, 'set-cookie')) this.jar.take(line, address)
    return exchange
  }
}

/** The absolute address that a response redirects to, or null when it is not a redirect. */
export function redirectTarget ({ response }: Exchange, url: string): string | null {
  const location = header(response, 'location')
  if (response === undefined || !isRedirect(response.status)) return null
  return URL.canParse(location, url) ? new URL(location, url).href : null
}

/** The address that the last response of an arrival redirects to; null without a redirect. */
export function targetOf (arrival: Arrival): string | null {
  return arrival.at === 'callback' ? arrival.callbackUrl : redirectTarget(arrival.exchange, arrival.url)
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
