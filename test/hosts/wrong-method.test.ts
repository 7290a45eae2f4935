// A portal that requests its token by GET: its secret and its code are in the URL, and in no line of the log. Any
// other method is a route that does not exist. The host has a page for every path.
import cors from '@fastify/cors'
import t from 'tap'
import { routerOptions } from '../helpers/fastify.ts'
import { PORTAL, startApp } from '../app.ts'
import { capture } from '../helpers/log.ts'
import { wire } from '../wire.ts'

const CODE = 'a-code-that-has-not-been-redeemed'
const { clientId, clientSecret } = PORTAL
const SENT = { grant_type: 'authorization_code', code: CODE, client_id: clientId }
const QUERIES = { method_not_allowed: SENT, credentials_in_url: { ...SENT, client_secret: clientSecret } }
const PATH = '/OAuth/token/'

t.test('GET is refused, and what was sent is not logged', async (t) => {
  const log = capture()
  const { url, events } = await startApp(t, {
    server: {
      logger: log.logger,
      exposeHeadRoutes: true,
      rewriteUrl: ({ url = '' }) => url.replace('client_secret', 'secret'),
      ...routerOptions({ ignoreTrailingSlash: true, caseSensitive: false })
    },
    async prepare (app) {
      await app.register(cors, { origin: true, preflight: false })
      app.get('/*', async () => 'page')
    }
  })
  const at = wire(url)
  for (const [reason, query] of Object.entries(QUERIES)) {
    const response = await at.send(`${PATH}?${String(new URLSearchParams(query))}`)
    t.match(response, { status: 405, json: { error: 'invalid_request', error_description: String } }, reason)
    t.match(Object.fromEntries(response.headers), { allow: 'POST', 'cache-control': 'no-store' }, reason)
    t.notOk(response.headers.has('access-control-allow-origin'), reason)
    t.match(events, [{ type: 'request_rejected', reason }], reason)
    events.length = 0
  }
  t.match(log.text(), `"url":"${PATH}?…"`)
  const asSent = new URLSearchParams({ '': clientSecret }).toString().slice(1)
  for (const secret of [CODE, clientSecret, asSent]) t.notMatch(log.text(), secret, secret)
  t.equal((await at.send(PATH, { method: 'HEAD' })).status, 200, 'HEAD is left to the host')
  t.equal((await at.user(await at.accessToken())).status, 200)
})

t.test('its options are those of the token endpoint; an error of the host is left to its error handler', async (t) => {
  const onRequest = async () => { throw Object.assign(new Error('own'), { statusCode: 418 }) }
  const routeOptions = (route: string) => route === 'token' ? { onRequest } : {}
  const { url, events } = await startApp(t, { options: { routeOptions } })
  t.equal((await wire(url).send('/oauth/token')).status, 418)
  t.strictSame(events, [])
})
