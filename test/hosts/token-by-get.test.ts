// A portal that requests its token by GET: its secret and its code are in the URL, and in no line of the log.
import Fastify from 'fastify'
import t from 'tap'
import partnerSso from '../../lib/index.ts'
import { hostOptions, PORTAL, startHost } from '../helpers/host.ts'
import { capture } from '../helpers/log.ts'
import { wire } from '../helpers/wire.ts'

const CODE = 'a-code-that-has-not-been-redeemed'
const SENT = { grant_type: 'authorization_code', code: CODE, client_id: PORTAL.clientId }

for (const [reason, query] of Object.entries({
  method_not_allowed: SENT,
  credentials_in_url: { ...SENT, client_secret: PORTAL.clientSecret }
})) {
  t.test(reason, async (t) => {
    const log = capture()
    const { url, events } = await startHost(t, {}, { server: { logger: log.logger } })
    const response = await wire(url).send(`/oauth/token?${new URLSearchParams(query)}`)
    t.equal(response.status, 405)
    t.match(Object.fromEntries(response.headers), { allow: 'POST', 'cache-control': 'no-store' })
    t.match(response.json, { error: 'invalid_request', error_description: String })
    t.match(events, [{ type: 'request_rejected', reason }])
    t.match(log.text(), '"url":"/oauth/token?…"')
    for (const secret of [CODE, PORTAL.clientSecret]) {
      t.notMatch(log.text(), secret)
      t.notMatch(response.text, secret)
    }
  })
}

t.test('the host sets its options as those of the token endpoint', async (t) => {
  const asked: string[] = []
  const onRequest = async ({ method }: { method: string }) => { asked.push(method) }
  const routeOptions = (route: string) => route === 'token' ? { onRequest } : {}
  const { url } = await startHost(t, { routeOptions })
  t.equal((await wire(url).send('/oauth/token')).status, 405)
  t.strictSame(asked, ['GET'])
})

t.test('an error of the host is left to its error handler', async (t) => {
  const onRequest = async () => { throw Object.assign(new Error('own'), { statusCode: 418 }) }
  const { url, events } = await startHost(t, { routeOptions: { onRequest } })
  t.equal((await wire(url).send('/oauth/token')).status, 418)
  t.strictSame(events, [])
})

t.test('no response can be read by other origins or stored, also if a hook of the host throws', async (t) => {
  const onSend = async () => { throw new Error('own') }
  const { url } = await startHost(t, { routeOptions: { onSend } })
  const { status, headers } = await wire(url).send('/oauth/token')
  t.strictSame([status, headers.get('cache-control')], [405, 'no-store'])
})

t.test('a host that has such a route of its own', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/oauth/token', async () => 'own')
  await t.rejects(async () => await app.register(partnerSso, hostOptions()), {
    message: /^partner-sso: the route GET \/oauth\/token already exists\. /,
    cause: { code: 'FST_ERR_DUPLICATED_ROUTE' }
  })
})
