import { type CookieJar } from './cookies.ts'
import { type Exchange, header, headerValues, type Headers, type Send } from './wire.ts'

const MOST_REDIRECTS = 10

/** Where following redirects ended. */
export type Arrival = { exchange: Exchange, /** Address of the last request. */ url: string } & (
  /** A redirect to the portal's callback. */
  | { at: 'callback', callbackUrl: string }
  /** A page, or an answer that is no redirect. */
  | { at: 'page' }
  /** A redirect out of the partner's application that is not the callback. */
  | { at: 'elsewhere', location: string }
  /** Redirects that do not end. */
  | { at: 'loop' }
  /** No answer. */
  | { at: 'nowhere' }
)

/** Plays the user's browser: keeps cookies, follows redirects inside the partner's application, stops at the portal's callback. */
export class Browser {
  readonly jar: CookieJar
  readonly exchanges: Exchange[] = []
  readonly #send: Send
  readonly #headers: Headers
  readonly #redirectUri: URL

  /** @param headers - sent with every request to the partner's application, for users known by a header */
  constructor (send: Send, redirectUri: string, jar: CookieJar, headers: Headers = []) {
    this.#send = send
    this.#redirectUri = new URL(redirectUri)
    this.jar = jar
    this.#headers = headers
  }

  /** Opens an address as a person would and follows at most ten redirects. */
  async open (url: string, method = 'GET', body?: string): Promise<Arrival> {
    const origin = new URL(url).origin
    let arrival = await this.#step(url, method, body, origin)
    for (let count = 1; 'next' in arrival; count++) {
      if (count > MOST_REDIRECTS) return { at: 'loop', exchange: arrival.exchange, url: arrival.url }
      arrival = await this.#step(arrival.next, arrival.method, undefined, origin)
    }
    return arrival
  }

  async #step (url: string, method: string, body: string | undefined, origin: string): Promise<Arrival | { next: string, method: string, exchange: Exchange, url: string }> {
    const exchange = await this.request(url, method, body)
    if (exchange.response === undefined) return { at: 'nowhere', exchange, url }
    const location = redirectTarget(exchange, url)
    if (location === null) return { at: 'page', exchange, url }
    if (isCallback(location, this.#redirectUri)) return { at: 'callback', callbackUrl: location, exchange, url }
    if (new URL(location).origin !== origin) return { at: 'elsewhere', location, exchange, url }
    return { next: location, method: nextMethod(exchange, method), exchange, url }
  }

  /** One request with the browser's cookies; no redirect is followed. */
  async request (url: string, method: string, body?: string): Promise<Exchange> {
    const { pathname } = new URL(url)
    const cookie = this.jar.header(pathname)
    const form = body === undefined ? {} : { body }
    const exchange = await this.#send({
      method,
      url,
      headers: [
        ['Accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
        ...(body === undefined ? [] : [['Content-Type', 'application/x-www-form-urlencoded'] as const]),
        ...(cookie === '' ? [] : [['Cookie', cookie] as const]),
        ...this.#headers
      ],
      ...form
    })
    for (const line of headerValues(exchange.response, 'set-cookie')) this.jar.take(line, pathname)
    this.exchanges.push(exchange)
    return exchange
  }
}

/** The absolute address that an answer redirects to, or null when it is no redirect. */
export function redirectTarget ({ response }: Exchange, url: string): string | null {
  const location = header(response, 'location')
  if (response === undefined || response.status < 300 || response.status > 399 || !URL.canParse(location, url)) return null
  return new URL(location, url).href
}

/** Whether an address is the callback, with the query that the callback has of its own. */
export function isCallback (address: string, redirectUri: URL): boolean {
  const url = new URL(address)
  const own = [...redirectUri.searchParams]
  return url.origin === redirectUri.origin && url.pathname === redirectUri.pathname &&
    own.every(([name, value]) => url.searchParams.getAll(name).includes(value))
}

/** RFC 9110 §15.4: only 307 and 308 keep the method. */
function nextMethod ({ response }: Exchange, method: string): string {
  return response?.status === 307 || response?.status === 308 ? method : 'GET'
}
