import { describe, fixFor } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Secrets } from '../flow/masking.ts'
import type { Exchange, Send, WireRequest } from '../flow/wire.ts'
import { header, headerValues, statusOf } from '../flow/wire.ts'
import { cacheOf } from './cache.ts'
import { Failed, NoResponse } from './rule.ts'

export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>

export interface Sending {
  /** Lets time pass until the signal is aborted. */
  wait: Wait
  /** Called with each exchange, secrets not hidden. */
  onExchange: (exchange: Exchange) => void
  /** Gets the value of each cookie that the app sets. */
  secrets: Secrets
}

/** Names the requests of the check in the log of the app. Some apps want that of a browser. */
const AGENT = ['User-Agent', 'Mozilla/5.0 (compatible; fastify-partner-sso)'] as const
/** Seconds that a rate limit may ask to wait. */
const LONGEST_WAIT = 10
/** Requests until a limit is one that does not pass. */
const TRIES = 3

/**
 * Sends the requests of a check. What is wrong with a response whoever asked is thrown: NoResponse,
 * or Failed for a rate limit or a cache.
 *
 * @param seen - collects the exchanges with the three endpoints
 */
export function sending (
  { authorizeUrl, tokenUrl, userUrl, send }: Integration,
  { wait, onExchange, secrets }: Sending,
  signal: AbortSignal,
  seen: Exchange[]
): Send {
  const sendOnce: Send = async (request) => {
    const exchange = await send({ ...request, headers: [AGENT, ...request.headers] }, signal)
    onExchange(exchange)
    signal.throwIfAborted()
    const { networkError, response } = exchange
    for (const line of headerValues(response, 'set-cookie')) secrets.add(line.replace(/^[^=]*=|;.*/g, ''))
    if (networkError === undefined) return exchange
    throw new NoResponse(`${networkError.sentence} ${fixFor(networkError.code)}`)
  }

  const sendUntilAllowed = async (request: WireRequest, tries: number): Promise<Exchange> => {
    const exchange = await sendOnce(request)
    if (![authorizeUrl, tokenUrl, userUrl].includes(addressOf(request))) return exchange
    const cached = cacheOf(exchange, seen)
    seen.push(exchange)
    if (cached !== null) throw new Failed(cached, { rule: 'service.no-cache' })
    if (statusOf(exchange) !== 429) return exchange
    const seconds = Number(header(exchange.response, 'retry-after') || Infinity)
    if (tries === 1 || !(seconds <= LONGEST_WAIT)) throw limited(exchange, seen)
    await wait(seconds * 1000 + 100, signal)
    return sendUntilAllowed(request, tries - 1)
  }

  return (request) => sendUntilAllowed(request, TRIES)
}

const addressOf = ({ url }: WireRequest): string => url.split('?')[0] as string

function limited (exchange: Exchange, seen: Exchange[]): Failed {
  const address = addressOf(exchange.request)
  const count = seen.filter(({ request }) => addressOf(request) === address).length
  return new Failed(`429 after ${count} requests to ${address}: ${describe(exchange)}`, {
    rule: 'service.rate-limit',
    severity: count < 20 ? 'must' : 'should'
  })
}
