import { describe, fixFor } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Secrets } from '../flow/masking.ts'
import type { Exchange, Send } from '../flow/wire.ts'
import { header, headerValues, statusOf } from '../flow/wire.ts'
import { expect, LimitMet, NoResponse, Untested } from './rule.ts'
import { nameOf } from './voice.ts'

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
/** What to do where a response comes from a cache. */
export const CACHE = 'Exempt /oauth/* from every cache in front (CDN, proxy_cache, a hook): the plugin sends no-store.'
/** What to do where a rate limit is met. */
const LIMIT =
  'Set each limit far above the sign-ins of a minute: the portal’s servers have few addresses. Behind a proxy set ' +
  'trustProxy, or all share one address.'
/** Seconds that a request waits for a rate limit in all. */
const LONGEST_WAIT = 10

/**
 * Sends the requests of a check. What is wrong with a response whoever asked is thrown: NoResponse,
 * LimitMet, or Failed where a cache responded.
 *
 * @param seen - collects the exchanges with the three endpoints
 */
export function sending (
  { authorizeUrl, tokenUrl, userUrl, send }: Integration,
  { wait, onExchange, secrets }: Sending,
  signal: AbortSignal,
  seen: Exchange[]
): Send {
  return async (request) => {
    const [address = ''] = request.url.split('?')
    for (let tries = 1; ; tries++) {
      const exchange = await send({ ...request, headers: [AGENT, ...request.headers] }, signal)
      onExchange(exchange)
      signal.throwIfAborted()
      const { networkError, response } = exchange
      for (const line of headerValues(response, 'set-cookie')) secrets.add(line.replace(/^[^=]*=|;.*/g, ''))
      if (networkError !== undefined) throw new NoResponse(`${networkError.sentence} ${fixFor(networkError.code)}`)
      const isEndpoint = [authorizeUrl, tokenUrl, userUrl].includes(address)
      if (isEndpoint) {
        expectNoCache(exchange, seen)
        seen.push(exchange)
      }
      if (statusOf(exchange) !== 429) return exchange
      const seconds = Number(header(response, 'retry-after') || Infinity) + 1
      if (!(seconds * tries <= LONGEST_WAIT)) {
        const got = `${nameOf(exchange)}: ${describe(exchange)}`
        if (!isEndpoint) throw new Untested(`it needs a higher limit, or to be tried later: ${got}`)
        const count = seen.filter(({ request }) => request.url.startsWith(address)).length
        throw new LimitMet(`${got}, after ${count} requests. ${LIMIT}`)
      }
      await wait(seconds * 1000, signal)
    }
  }
}

/** The code or the token that a response gives. */
const givenIn = ({ response }: Exchange) =>
  /[?&]code=[^&]+|"access_token":"[^"]+"/.exec(`${header(response, 'location')} ${response?.body}`)?.[0]

/** What differs from request to request: the form, or the query. */
const sentIn = ({ request: { url, body = url } }: Exchange) => body

/** No response comes from a cache: none says so, and none gives the code or token of another request. */
function expectNoCache (exchange: Exchange, earlier: readonly Exchange[]) {
  const given = givenIn(exchange)
  const isRepeated = given && earlier.some((other) => givenIn(other) === given && sentIn(other) !== sentIn(exchange))
  const mark = exchange.response?.headers
    .map((line) => line.join(': '))
    .find((line) => /^age: [1-9]|^\S*cache\S*: .*\bhit\b/i.test(line))
  const why = isRepeated ? 'the code or token of an earlier request' : mark
  expect(why === undefined, `${nameOf(exchange)}: ${why}`, { fix: CACHE, isEnd: true })
}
