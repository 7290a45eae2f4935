import { describe } from '../flow/failure.ts'
import type { Exchange, Headers } from '../flow/wire.ts'
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
  const { response } = exchange
  const name = nameOf(exchange)
  const own = stateOf(exchange)
  const location = header(response, 'location')
  const isCopy = earlier
    .map(stateOf)
    .some((state) => state !== undefined && state !== own && location.includes(state))
  if (own !== undefined && isCopy) {
    return `${name} gets the redirect of an earlier request, with its state: ${describe(exchange)}`
  }
  const given = givenIn(exchange)
  if (given !== undefined && earlier.some((other) => givenIn(other) === given)) {
    return `${name} gets the code or token of an earlier request`
  }
  const mark = response?.headers.find(isMark)
  return mark === undefined ? null : `${name}: ${mark.join(': ')}`
}

const isMark = ([name, value]: Headers[number]): boolean => {
  const isHit = /cache/i.test(name) && /\bhit\b/i.test(value)
  return isHit || (/^age$/i.test(name) && Number(value) > 0)
}
