import { describe, oauthError } from '../../testing/failure.ts'
import type { Exchange } from '../../testing/wire.ts'
import { statusOf } from '../../testing/wire.ts'
import { Failed } from './errors.ts'
import type { Service } from './service.ts'

/** Says why the authorization endpoint refuses the client_id or the redirect_uri, in the words of the service. */
export async function explainRefusal (service: Service, exchange: Exchange): Promise<Failed> {
  const { redirectUri, clientId } = service.portal
  const isJson = oauthError(exchange.response) !== null
  // An error page says little to a program: the same request, for a client that asks for JSON.
  const explained = describe(isJson ? exchange : await ask(service, exchange.request.url))
  const uri = `Register exactly ${redirectUri} at the service, or give the registered one with --redirect-uri.`
  const client = `Register the client_id ${clientId} at the service, or give the registered one with --client-id.`
  if (explained.includes('client_id')) return new Failed(explained, client)
  const near = await registeredNear(service, exchange.request.url)
  if (near !== null) {
    return new Failed(`${explained}; the service accepts ${near.uri}`, `The ${near.difference} differs. ${uri}`)
  }
  return new Failed(explained, explained.includes('redirect_uri') ? uri : `${uri} ${client}`)
}

const ask = ({ portal: { send } }: Service, url: string): Promise<Exchange> =>
  send({ method: 'GET', url, headers: [['Accept', 'application/json']] })

interface Near { uri: string, difference: string }

/** The registered redirect_uri, where it differs in one of the usual ways from the given one. */
async function registeredNear (service: Service, url: string): Promise<Near | null> {
  for (const near of nearOnes(service.portal.redirectUri)) {
    const changed = new URL(url)
    changed.searchParams.set('redirect_uri', near.uri)
    if (statusOf(await ask(service, changed.href)) < 400) return near
  }
  return null
}

/** The differences have the names that the log of the plugin gives them. */
function nearOnes (given: string): Near[] {
  const { hostname, pathname, protocol } = new URL(given)
  const [path, ...query] = given.split('?') as [string, ...string[]]
  const near: Near[] = [
    { difference: 'trailing slash', uri: [path.endsWith('/') ? path.slice(0, -1) : `${path}/`, ...query].join('?') },
    { difference: 'scheme', uri: given.replace(protocol, protocol === 'https:' ? 'http:' : 'https:') },
    { difference: 'host', uri: given.replace(hostname, hostname === 'localhost' ? '127.0.0.1' : 'localhost') },
    { difference: 'host', uri: given.replace('://www.', '://') },
    { difference: 'case', uri: given.replace(pathname, pathname.toLowerCase()) },
    { difference: 'query', uri: path },
    { difference: 'encoding', uri: decoded(given) }
  ]
  return near.filter(({ uri }) => uri !== given)
}

function decoded (uri: string): string {
  try {
    return decodeURI(uri)
  } catch {
    return uri
  }
}
