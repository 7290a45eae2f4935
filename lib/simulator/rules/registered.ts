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
  if (near !== null) return new Failed(`${explained}; the service accepts ${near.uri}`, `${near.difference} differs. ${uri}`)
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

function nearOnes (given: string): Near[] {
  const { hostname, pathname } = new URL(given)
  const other = hostname === 'localhost' ? '127.0.0.1' : 'localhost'
  const near = [
    { difference: 'The trailing slash', uri: pathname.endsWith('/') ? given.replace(/\/(?=$|\?)/, '') : given.replace(/(?=$|\?)/, '/') },
    { difference: 'The scheme', uri: given.startsWith('https:') ? given.replace('https:', 'http:') : given.replace('http:', 'https:') },
    { difference: 'The host', uri: given.replace(hostname, other) },
    { difference: 'The host', uri: given.replace('://www.', '://') },
    { difference: 'The case', uri: given.toLowerCase() },
    { difference: 'The query', uri: given.split('?')[0] as string },
    { difference: 'The encoding', uri: decoded(given) }
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
