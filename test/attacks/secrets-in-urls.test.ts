// A client sends its secret, its code and its token in URLs: of the endpoints, also by another method, of mistyped
// paths, to a proxy. Someone reads the log at `trace`. The plugin masks what reaches its routes, the logger of
// SECURITY the rest.
import t from 'tap'
import type { Test } from 'tap'
import { PORTAL, startApp } from '../app.ts'
import { capture } from '../helpers/log.ts'
import { prepared } from '../helpers/prepared.ts'
import { request, say, tokenForm, wire } from '../wire.ts'
import { block } from '../package/documents.ts'

const SECRET = 's3cr+t/%="that-is\\long'
const USER_INFORMATION = 'a-secret-for-a-proxy'
const CODE = 'a-code-that-has-not-been-redeemed'
const VERIFIER = 'a-verifier-that-has-not-been-sent'
const TOKEN = 'a-token-that-has-not-been-redeemed'

const credentials = `client_id=${PORTAL.clientId}&client_secret=`
const sent = `grant_type=authorization_code&code=${CODE}&code_verifier=${VERIFIER}`

/** Each with the secret as it is and encoded, first, last and between others. */
const queries = [
  `${sent}&${credentials}${encodeURIComponent(SECRET)}`,
  `${credentials}${SECRET}&${sent}`,
  `CLIENT_SECRET=${SECRET};Code=${CODE}`,
  `access_token=${TOKEN}`,
  `client%5Fsecret=x;${SECRET}&client_secret[]=${SECRET}&code_verifier%5B0%5D%3d${VERIFIER}&code%3D${CODE}`,
  `to=${encodeURIComponent(`/a?b&client_secret=${SECRET}`)}`
]

/** The plugin masks the URL; Fastify logs none of the last two. */
const masked = [
  'GET /oauth/token',
  'POST /oauth/token',
  'GET /oauth/user',
  'GET /oauth/authorize',
  `POST http://id:${USER_INFORMATION}@x/oauth/token`,
  'GET /oauth/token%zz',
  'UNKNOWN /oauth/token'
]

/** The host's own: its 404. */
const ofHost = [
  'POST /oauth/token/',
  'GET /oauth/token;',
  'PROPFIND /oauth/token',
  'GET /oauth/user/',
  'POST /oauth/authorize',
  `POST http://id:${USER_INFORMATION}@x/oauth/tokens`
]

const SECRETS = [
  SECRET,
  encodeURIComponent(SECRET),
  JSON.stringify(SECRET).slice(1, -1),
  USER_INFORMATION,
  CODE,
  VERIFIER,
  TOKEN
]

/** Which secrets are in the log after requests for the targets. */
async function logged (t: Test, targets: string[], logger: object): Promise<string[]> {
  const log = capture()
  const { url } = await startApp(t, { server: { logger: { ...log.logger, ...logger } } })
  for (const target of targets) await say(url, request(target))
  t.match(log.text(), '"msg":"request completed"')
  return SECRETS.filter((secret) => log.text().includes(secret))
}

const targets = (lines: string[]) =>
  lines.flatMap((line) => queries.map((query) => `${line}${line.includes('?') ? '' : '?'}${query}`))

const source = `data:text/javascript,${encodeURIComponent(block('logger'))}`
const { logger } = await prepared(async () => await import(source) as { logger: object })

t.test('the plugin masks the URLs of its routes', async (t) => {
  t.strictSame(await logged(t, targets(masked), {}), [])
})

t.test('nothing of it goes on to the login', async (t) => {
  const log = capture()
  const { url } = await startApp(t, { server: { logger: log.logger } })
  for (const query of queries) {
    const { headers } = await wire(url).authorize({}, null, {}, `&${query.replaceAll('client_id', 'y')}`)
    t.match(headers.get('location'), /^\/login\?return_to=/, query)
    await fetch(url + headers.get('location'))
    const found = log.text() + JSON.stringify([...headers])
    t.strictSame(SECRETS.filter((secret) => found.includes(secret)), [], query)
  }
})

t.test('the logger of SECURITY masks every other', async (t) => {
  t.strictSame(await logged(t, targets(ofHost), logger), [])
})

t.test('a request that Node cannot read', async (t) => {
  const headers = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 1', 'Content-Length: 2']
  const unreadable = request('POST /oauth/token', headers, `${tokenForm(CODE)}`)
  const log = capture()
  const { url } = await startApp(t, { server: { logger: { ...log.logger, ...logger } } })
  t.strictSame((await say(url, unreadable)).statuses, [400])
  t.match(log.text(), '"msg":"client error"')
  for (const spelling of [CODE, Buffer.from(CODE).join()]) t.notMatch(log.text(), spelling, spelling)
})
