import { describe } from '../flow/failure.ts'
import type { Integration } from '../flow/integration.ts'
import type { Exchange } from '../flow/wire.ts'
import { header } from '../flow/wire.ts'

/** The states that were sent: a response with an earlier one is a copy of that response. */
export class StatesSent {
  readonly #states = new Set<string>()

  /** Remembers the state of a request, and returns the earlier ones. */
  add (state: string | null): string[] {
    // Its beginning looks the same in every encoding.
    const start = /^[\w-]{24}/.exec(state ?? '')?.[0]
    const earlier = [...this.#states].filter((other) => other !== start)
    if (start !== undefined) this.#states.add(start)
    return earlier
  }
}

/** Why a response of an endpoint must come from a cache; null where nothing says so. */
export function cacheOf (
  exchange: Exchange,
  states: StatesSent,
  { authorizeUrl, tokenUrl, userUrl }: Integration
): string | null {
  const { request, response } = exchange
  const [address = ''] = request.url.split('?')
  if (![authorizeUrl, tokenUrl, userUrl].includes(address)) return null
  const name = `${request.method} ${new URL(address).pathname}`
  if (address === authorizeUrl) {
    const earlier = states.add(new URL(request.url).searchParams.get('state'))
    const location = header(response, 'location')
    if (earlier.some((state) => location.includes(state))) {
      return `${name} gets the redirect of an earlier request, with its state: ${describe(exchange)}`
    }
  }
  const hit = ['x-cache', 'cf-cache-status', 'x-cache-status', 'x-proxy-cache', 'x-varnish-cache'].find(
    (header_) => /\bhit\b/i.test(header(response, header_))
  )
  if (hit !== undefined) return `${name}: ${hit}: ${header(response, hit)}`
  const age = Number(header(response, 'age') || 0)
  return age > 0 ? `${name}: Age: ${age}` : null
}
