import { describe, fixFor } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Secrets } from '../flow/masking.ts'
import type { Exchange, Send } from '../flow/wire.ts'
import { header, headerValues, statusOf } from '../flow/wire.ts'
import { expect, Failed, NoResponse } from './rule.ts'
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
  return async (request) => {
    const [address] = request.url.split('?')
    const isToEndpoint = [authorizeUrl, tokenUrl, userUrl].some((url) => url === address)
    for (let tries = 1; ; tries++) {
      const exchange = await send({ ...request, headers: [AGENT, ...request.headers] }, signal)
      onExchange(exchange)
      signal.throwIfAborted()
      const { networkError, response } = exchange
      for (const line of headerValues(response, 'set-cookie')) secrets.add(line.replace(/^[^=]*=|;.*/g, ''))
      if (networkError !== undefined) throw new NoResponse(`${networkError.sentence} ${fixFor(networkError.code)}`)
      if (!isToEndpoint) return exchange
      expectNoCache(exchange, seen)
      seen.push(exchange)
      if (statusOf(exchange) !== 429) return exchange
      const seconds = Number(header(response, 'retry-after') || Infinity)
      if (tries === TRIES || !(seconds <= LONGEST_WAIT)) {
        const name = nameOf(exchange)
        const count = seen.filter((other) => nameOf(other) === name).length
        throw new Failed(`429 after ${count} requests, ${name}: ${describe(exchange)}`, {
          rule: 'service.rate-limit',
          severity: count < 20 ? 'must' : 'should'
        })
      }
      await wait(seconds * 1000 + 100, signal)
    }
  }
}

/** The beginning of a random state, which looks the same in every encoding. */
const stateOf = ({ request }: Exchange) => /[?&]state=([\w-]{24})/.exec(request.url)?.[1]

/** The code or the token that a response gives. */
const givenIn = ({ response }: Exchange) =>
  /[?&]code=[^&]+|"access_token":"[^"]+"/.exec(`${header(response, 'location')} ${response?.body}`)?.[0]

/**
 * No response comes from a cache.
 *
 * @param earlier - the exchanges before: a redirect with one of their states is a copy, as is a second
 * response with the same code or token
 */
function expectNoCache (exchange: Exchange, earlier: readonly Exchange[]): void {
  const { response } = exchange
  const location = header(response, 'location')
  const own = stateOf(exchange)
  const given = givenIn(exchange)
  const isOfOther = earlier.map(stateOf).some((state) => state && state !== own && location.includes(state))
  const isRepeated = given && earlier.map(givenIn).includes(given)
  const mark = response?.headers
    .map((line) => line.join(': '))
    .find((line) => /^age: [1-9]|^\S*cache\S*: .*\bhit\b/i.test(line))
  const why = isOfOther || isRepeated ? 'the state, code or token of an earlier request' : mark
  expect(why === undefined, `${nameOf(exchange)}: ${why}`, { rule: 'service.no-cache' })
}
