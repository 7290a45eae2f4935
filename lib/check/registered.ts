import { unescape } from 'node:querystring'
import { describe } from '../flow/failure.ts'
import type { Exchange } from '../flow/wire.ts'
import { Failed } from './rule.ts'
import type { Subject } from './subject.ts'
import { reasonsOf } from './voice.ts'

/** Usual differences of two addresses: what to replace. */
const DIFFERENCES: Array<[name: string, part: RegExp, other: string | ((part: string) => string)]> = [
  ['trailing slash', /\/(?=\?|$)/, ''],
  ['trailing slash', /(?=\?|$)/, '/'],
  ['scheme', /^https:/, 'http:'],
  ['scheme', /^http:/, 'https:'],
  ['host', /\/\/[^/:]+/, '//localhost'],
  ['host', /\/\/localhost/, '//127.0.0.1'],
  ['host', /\/\/www\./, '//'],
  ['case', /.*/, (uri) => uri.toLowerCase()],
  ['query', /\?.*/, ''],
  ['encoding', /.*/, unescape]
]

/** Says why the client_id or the redirect_uri is refused, and in what it differs. */
export async function explainRefusal (subject: Subject, exchange: Exchange): Promise<Failed> {
  const { redirectUri, clientId } = subject.integration
  const reasons = reasonsOf(exchange)
  const got = describe(exchange)
  const isUnknown = reasons.includes('client_id_unknown')
  const fix = `Register exactly ${isUnknown ? clientId : redirectUri} at the app, or give the registered one.`
  for (const [name, part, other] of isUnknown ? [] : DIFFERENCES) {
    const similar = redirectUri.replace(part, other as string)
    if (similar === redirectUri) continue
    const response = await subject.askJson({ redirect_uri: similar })
    if (reasonsOf(response).includes('redirect_uri_unregistered')) continue
    return new Failed(`${got}; the app has registered ${similar}`, { reasons, fix: `The ${name} differs. ${fix}` })
  }
  return new Failed(got, { reasons, fix })
}
