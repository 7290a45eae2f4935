import { unescape } from 'node:querystring'
import { describe, oauthError } from '../../flow/failure.ts'
import type { Exchange } from '../../flow/wire.ts'
import { statusOf } from '../../flow/wire.ts'
import { Failed } from './errors.ts'
import type { Service } from './service.ts'

/**
 * Says why the authorization endpoint refuses the client_id or the redirect_uri, in the words of
 * the service.
 */
export async function explainRefusal (service: Service, exchange: Exchange): Promise<Failed> {
  const { redirectUri, clientId } = service.integration
  const isJson = oauthError(exchange.response) !== null
  // A program reads little in an error page: the same request is sent again, for JSON.
  const got = describe(isJson ? exchange : await ask(service, exchange.request.url))
  const uri =
    `Register exactly ${redirectUri} at the service, or give the registered one with ` +
    '--redirect-uri.'
  const client =
    `Register the client_id ${clientId} at the service, or give the registered one with ` +
    '--client-id.'
  if (got.includes('client_id')) return new Failed(got, client)
  for (const [difference, near] of similarUris(redirectUri)) {
    const url = new URL(exchange.request.url)
    url.searchParams.set('redirect_uri', near)
    const isAccepted = near !== redirectUri && statusOf(await ask(service, url.href)) < 400
    if (isAccepted) {
      return new Failed(`${got}; the service accepts ${near}`, `The ${difference} differs. ${uri}`)
    }
  }
  return new Failed(got, got.includes('redirect_uri') ? uri : `${uri} ${client}`)
}

const ask = ({ integration: { send } }: Service, url: string): Promise<Exchange> =>
  send({ method: 'GET', url, headers: [['Accept', 'application/json']] })

/**
 * Addresses that differ from the given one in a usual way. The log of the plugin names the
 * differences alike.
 */
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
