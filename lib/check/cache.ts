import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'

/** The beginning of a random state looks the same in every encoding. */
const stateOf = ({ request }: Exchange): string | undefined => /[?&]state=([\w-]{24})/.exec(request.url)?.[1]

/**
 * Why a response must come from a cache; null where nothing says so.
 *
 * @param earlier - the exchanges before: a redirect with one of their states is a copy
 */
export function cacheOf (exchange: Exchange, earlier: readonly Exchange[]): string | null {
  const { request, response } = exchange
  const name = `${request.method} ${new URL(request.url).pathname}`
  const location = header(response, 'location')
  const own = stateOf(exchange)
  const states = earlier.map(stateOf).filter((state) => state !== undefined && state !== own)
  if (own !== undefined && states.some((state) => location.includes(String(state)))) {
    return `${name} gets the redirect of an earlier request, with its state: ${describe(exchange)}`
  }
  const mark = response?.headers.find(
    ([header_, value]) =>
      (/cache/i.test(header_) && /\bhit\b/i.test(value)) || (/^age$/i.test(header_) && Number(value) > 0)
  )
  return mark === undefined ? null : `${name}: ${mark.join(': ')}`
}
