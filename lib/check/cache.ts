import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'
import { nameOf } from './voice.ts'

/** The beginning of a random state, which looks the same in every encoding. */
const stateOf = ({ request }: Exchange): string | undefined =>
  /[?&]state=([\w-]{24})/.exec(request.url)?.[1]

/** The code or the token that a response gives. */
const givenIn = ({ response }: Exchange): string | undefined =>
  /[?&]code=[^&]+|"access_token":"[^"]+"/.exec(`${header(response, 'location')} ${response?.body}`)?.[0]

/**
 * Why a response must come from a cache; null where nothing says so.
 *
 * @param earlier - the exchanges before: a redirect with one of their states is a copy, as is a second
 * response with the same code or token
 */
export function cacheOf (exchange: Exchange, earlier: readonly Exchange[]): string | null {
  const location = header(exchange.response, 'location')
  const given = givenIn(exchange)
  const isCopy = earlier.some((other) => {
    const state = stateOf(other)
    const isOfOther = state !== undefined && state !== stateOf(exchange) && location.includes(state)
    return isOfOther || (given !== undefined && given === givenIn(other))
  })
  if (isCopy) return `${nameOf(exchange)} gets the state, code or token of an earlier request`
  const lines = exchange.response?.headers.map((line) => line.join(': '))
  const mark = lines?.find((line) => /^age: [1-9]|^\S*cache\S*: .*\bhit\b/i.test(line))
  return mark === undefined ? null : `${nameOf(exchange)}: ${mark}`
}
