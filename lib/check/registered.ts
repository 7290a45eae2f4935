import { unescape } from 'node:querystring'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { Failed } from './rule.ts'
import type { Subject } from './subject.ts'
import { reasonsOf } from './voice.ts'

/** Says why the client_id or the redirect_uri is refused, and in what it differs. */
export async function explainRefusal (subject: Subject, exchange: Exchange): Promise<Failed> {
  const { redirectUri, clientId } = subject.integration
  const reasons = reasonsOf(exchange)
  const got = describe(exchange)
  if (reasons.includes('client_id_unknown')) {
    return new Failed(got, {
      reasons,
      fix: `Register the client_id ${clientId} at the app, or give the registered one.`
    })
  }
  const register = `Register exactly ${redirectUri} at the app, or give the registered one.`
  for (const [difference, similar] of similarUris(redirectUri)) {
    if (similar === redirectUri) continue
    const other = await subject.askJson({ redirect_uri: similar })
    if (reasonsOf(other).includes('redirect_uri_unregistered')) continue
    return new Failed(`${got}; the app has registered ${similar}`, {
      reasons,
      fix: `The ${difference} differs. ${register}`
    })
  }
  return new Failed(got, { reasons, fix: register })
}

/** Addresses that differ from the given one in a usual way. */
function similarUris (given: string): Array<[difference: string, uri: string]> {
  const { hostname, pathname, protocol } = new URL(given)
  const [path, ...query] = given.split('?') as [string, ...string[]]
  return [
    ['trailing slash', [path.endsWith('/') ? path.slice(0, -1) : `${path}/`, ...query].join('?')],
    ['scheme', given.replace(protocol, protocol === 'https:' ? 'http:' : 'https:')],
    ['host', given.replace(hostname, hostname === 'localhost' ? '127.0.0.1' : 'localhost')],
    ['host', given.replace('://www.', '://')],
    ['case', given.replace(pathname, pathname.toLowerCase())],
    ['query', path],
    ['encoding', unescape(given)]
  ]
}

/** In what an address differs from the redirect_uri, in the words of the plugin's log. */
export function differenceOf (given: string, expected: string): string {
  const [one, other] = [new URL(given), new URL(expected)]
  const parts = [
    ['scheme', one.protocol, other.protocol],
    ['host', one.hostname, other.hostname],
    ['port', one.port, other.port],
    [
      'trailing slash',
      one.pathname.replace(/\/$/, '') === other.pathname.replace(/\/$/, '') ? one.pathname : '',
      other.pathname
    ],
    ['path', one.pathname, other.pathname],
    ['query', one.search, other.search]
  ] as const
  const found = parts.find(([name, a, b]) => a !== b && (name !== 'trailing slash' || a !== ''))
  return found?.[0] ?? 'encoding'
}
