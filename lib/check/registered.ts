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
  const { hostname, pathname } = new URL(given)
  const path = given.split('?')[0] as string
  return [
    ['trailing slash', given.replace(path, path.replace(/\/$/, ''))],
    ['trailing slash', given.replace(path, `${path}/`)],
    ['scheme', given.replace(/^https:/, 'http:')],
    ['scheme', given.replace(/^http:/, 'https:')],
    ['host', given.replace(hostname, 'localhost')],
    ['host', given.replace('//localhost', '//127.0.0.1')],
    ['host', given.replace('://www.', '://')],
    ['case', given.replace(pathname, pathname.toLowerCase())],
    ['query', path],
    ['encoding', unescape(given)]
  ]
}
