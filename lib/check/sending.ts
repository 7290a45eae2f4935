import { describe, fixFor } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Exchange, Send } from '../flow/wire.ts'
import { header, statusOf } from '../flow/wire.ts'
import { cacheOf } from './cache.ts'
import { Failed, NoResponse } from './rule.ts'

export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>

export interface Sending {
  /** Lets time pass until the signal is aborted. */
  wait: Wait
  /** Called with each exchange, secrets not hidden. */
  onExchange: (exchange: Exchange) => void
}

/** Names the requests of the check in the log of the app; those of a browser for apps that want one. */
const AGENT = 'fastify-partner-sso'
const BROWSER = `Mozilla/5.0 (compatible; ${AGENT})`
/** No response of the endpoints is longer. */
const LONGEST_SEEN = 10_000
/** Seconds that a rate limit may ask to wait. */
const LONGEST_WAIT = 10

/**
 * Sends the requests of a check. What is wrong with a response whoever asked is thrown: NoResponse,
 * or Failed for a rate limit or a cache.
 *
 * @param seen - collects the exchanges with the three endpoints
 */
export function sending (
  { authorizeUrl, tokenUrl, userUrl, send }: Integration,
  { wait, onExchange }: Sending,
  signal: AbortSignal,
  seen: Exchange[]
): Send {
  const addressOf = (url: string): string => url.split('?')[0] as string

  const sendOnce: Send = async (request) => {
    const isBrowser = request.headers.some(([, value]) => value.startsWith('text/html'))
    const agent = ['User-Agent', isBrowser ? BROWSER : AGENT] as const
    const exchange = await send({ ...request, headers: [agent, ...request.headers] }, signal)
    onExchange(exchange)
    signal.throwIfAborted()
    const { networkError, response } = exchange
    if (networkError !== undefined) throw new NoResponse(`${networkError.sentence} ${fixFor(networkError.code)}`)
    if (![authorizeUrl, tokenUrl, userUrl].includes(addressOf(request.url))) return exchange
    const cached = cacheOf(exchange, seen)
    if (String(response?.body).length <= LONGEST_SEEN) seen.push(exchange)
    if (cached !== null) throw new Failed(cached, { rule: 'service.no-cache' })
    return exchange
  }

  return async (request) => {
    const exchange = await sendOnce(request)
    const address = addressOf(request.url)
    const count = seen.filter(({ request: { url } }) => addressOf(url) === address).length
    // The limit of a login is not one of the portal.
    if (statusOf(exchange) !== 429 || count === 0) return exchange
    const seconds = Number(header(exchange.response, 'retry-after') || Infinity)
    const isSoon = seconds <= LONGEST_WAIT
    if (isSoon) {
      await wait(seconds * 1000 + 100, signal)
      const again = await sendOnce(request)
      if (statusOf(again) !== 429) return again
    }
    throw new Failed(`429 after ${count} requests to ${address}: ${describe(exchange)}`, {
      rule: 'service.rate-limit',
      severity: count < 20 && !isSoon ? 'must' : 'should'
    })
  }
}
