// Does something change responses on the way?
import { headers, json, onRequest, onSend, server, status, title } from './changes.ts'
import type { Change, Row } from './row.ts'

/** Lets any site read the responses of an endpoint. Behind every hook, as a proxy does it. */
const corsOfOrigin = (endpoint: string): Change => onRequest(async ({ url, headers: { origin } }, { raw }) => {
  if (!url.startsWith(`/oauth/${endpoint}`) || origin === undefined) return
  const writeHead = raw.writeHead.bind(raw)
  const changing = (status: number, given: object) =>
    writeHead(status, { ...given, 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' })
  raw.writeHead = changing as typeof raw.writeHead
})

export const FRONT: Row[] = [
  ['no Cache-Control', headers({ 'cache-control': undefined }), 'service.headers'],
  ['Cache-Control: public', headers({ 'cache-control': 'public, max-age=300' }), 'service.headers'],
  ['CORS for everybody', headers({ 'access-control-allow-origin': '*' }), 'service.headers'],
  ['CORS for the site that asks', corsOfOrigin(''), 'service.headers'],
  ['CORS for the site that asks for a token', corsOfOrigin('token'), 'service.headers'],
  ['CORS for the site that asks for a record', corsOfOrigin('user'), 'service.headers'],
  ...['unsafe-url', 'no-referrer-when-downgrade'].map((policy): Row =>
    [`Referrer-Policy: ${policy}`, headers({ 'referrer-policy': policy }), 'advice:service.headers']),
  ['no framing policy', headers({ 'content-security-policy': '', 'x-frame-options': '' }), 'advice:service.headers'],
  ['Cross-Origin-Opener-Policy', headers({ 'cross-origin-opener-policy': 'same-origin' }), 'advice:service.headers'],
  ['no WWW-Authenticate', headers({ 'www-authenticate': undefined }), 'advice:service.refusals'],
  ['pages for refusals', onSend((_payload, reply) => {
    if (reply.statusCode < 400) return undefined
    reply.type('text/html')
    return title('Error')
  }), 'advice:service.refusals'],
  ['200 for refusals', status(() => 200, server), 'advice:service.refusals'],
  ['a field more', json((data) =>
    'external_id' in data ? { ...data, requestId: crypto.randomUUID() } : data
  ), 'advice:user.record'],
  ['fields more, which say that nothing is wrong', json((data) =>
    'external_id' in data ? { ...data, success: true, error: null } : data
  ), 'advice:user.record']
]
