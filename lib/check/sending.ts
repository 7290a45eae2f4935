import { describe, fixFor } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Secrets } from '../flow/masking.ts'
import type { Exchange, Send, WireRequest } from '../flow/wire.ts'
import { header, headerValues, statusOf } from '../flow/wire.ts'
import { Cached, Limited, NoResponse, Stopped } from './interruptions.ts'
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

/** How a browser names itself: some apps want that of a browser. The rest says in the app's log who it is. */
const BROWSER = 'Mozilla/5.0 (compatible; fastify-partner-sso)'
/** How the portal's server names itself: it is not a browser. */
const SERVER = 'fastify-partner-sso'
/** Requests of a run. A correct app needs fewer than a hundred. */
const MOST_REQUESTS = 150
/** Seconds that a request waits for a rate limit in all. */
const LONGEST_WAIT = 10
/** Times that a limited request is sent. */
const MOST_TRIES = 3

/**
 * Sends the requests of a check.
 *
 * @param seen - collects the exchanges with the three endpoints
 * @throws NoResponse, Cached, Limited, Stopped
 */
export function sending (
  { authorizeUrl, tokenUrl, userUrl, send }: Integration,
  { wait, onExchange, secrets }: Sending,
  signal: AbortSignal,
  seen: Exchange[]
): Send {
  let requests = 0

  /** Sends a request, and again after a limit that names a time. */
  async function attempt (request: WireRequest, tries: number): Promise<Exchange> {
    if (++requests > MOST_REQUESTS) throw new Stopped(`The check ended after ${MOST_REQUESTS} requests. ${UNUSUAL}`)
    const exchange = await send(request, signal)
    onExchange(exchange)
    signal.throwIfAborted()
    const { networkError, response } = exchange
    for (const line of headerValues(response, 'set-cookie')) secrets.add(line.replace(/^[^=]*=|;.*/g, ''))
    if (networkError !== undefined) throw new NoResponse(networkError.sentence, fixFor(networkError.code))
    const isEndpoint = [authorizeUrl, tokenUrl, userUrl].includes(addressOf(request))
    if (isEndpoint) {
      const mark = markOfCache(exchange, seen)
      if (mark !== undefined) throw new Cached(`${nameOf(exchange)}: ${mark}`)
      seen.push(exchange)
    }
    if (statusOf(exchange) !== 429) return exchange
    const seconds = secondsUntil(header(response, 'retry-after')) + 1
    if (tries === MOST_TRIES || seconds * tries > LONGEST_WAIT) throw limitMet(exchange, isEndpoint, seen)
    await wait(seconds * 1000, signal)
    return attempt(request, tries + 1)
  }

  return (request) => {
    const agent = [tokenUrl, userUrl].includes(addressOf(request)) ? SERVER : BROWSER
    return attempt({ ...request, headers: [['User-Agent', agent], ...request.headers] }, 1)
  }
}

/** The URL of a request without its query. */
const addressOf = ({ url }: WireRequest): string => url.replace(/\?.*/s, '')

/** What to do where a run needs more than any correct app. */
export const UNUSUAL =
  'A correct app needs fewer than a hundred, and some seconds: see in its log what it responds, or whether something ' +
  'in front responds in its place.'

/** Seconds in a Retry-After (RFC 9110 section 10.2.3: a number or a date); Infinity where it names no time to come. */
function secondsUntil (retryAfter: string): number {
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter)
  const seconds = (Date.parse(retryAfter) - Date.now()) / 1000
  return seconds > 0 ? seconds : Infinity
}

function limitMet (exchange: Exchange, isEndpoint: boolean, seen: readonly Exchange[]) {
  const got = `${nameOf(exchange)}: ${describe(exchange)}`
  if (!isEndpoint) return new Limited(`A rate limit of the login was met: ${got}. Set it higher, or try again later.`)
  const count = seen.filter((other) => nameOf(other) === nameOf(exchange)).length
  return new Stopped(
    `A rate limit ends the check at its request ${count} of this path: ${got}. Set each limit far above the sign-ins ` +
    'of a minute: the portal’s servers have few addresses. Behind a proxy set trustProxy, or all people share one ' +
    'address. Or try again later.'
  )
}

/** The code or the token that a response gives. */
const givenIn = ({ response }: Exchange) =>
  /[?&]code=[^&]+|"access_token":"[^"]+"/.exec(`${header(response, 'location')} ${response?.body}`)?.[0]

/** What differs from request to request: the form, or the query. */
const sentIn = ({ request: { url, body = url } }: Exchange) => body

/** Characters of a state that was drawn at random. */
const RANDOM = 40

/** The random state of an authorization request of a browser without cookies; null where a session may keep it. */
function stateOfNobody ({ request: { url, headers } }: Exchange): string | null {
  const [state = ''] = /(?<=[?&]state=)[\w-]+/.exec(url) ?? []
  return state.length < RANDOM || headers.some(([name]) => name === 'Cookie') ? null : state
}

/** Why a response cannot be that of the app to this request; undefined where it may be. */
function markOfCache (exchange: Exchange, earlier: readonly Exchange[]): string | undefined {
  const given = givenIn(exchange)
  if (given && earlier.some((other) => givenIn(other) === given && sentIn(other) !== sentIn(exchange))) {
    return 'the code or token of an earlier request'
  }
  const own = stateOfNobody(exchange)
  const location = header(exchange.response, 'location')
  const isForeign = (state: string | null) => state !== null && state !== own && location.includes(state)
  if (own !== null && earlier.some((other) => isForeign(stateOfNobody(other)))) return 'the state of an earlier request'
  return exchange.response?.headers
    .map((line) => line.join(': '))
    .find((line) => /^age: [1-9]|^\S*cache\S*: .*\bhit\b/i.test(line))
}
