// A portal that requests its token by GET: its secret and its code are in the URL, and in no line of the log. Any
// other method is a route that does not exist.
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import { routerOptions } from '../helpers/fastify.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { capture } from '../helpers/log.ts'
import { wire } from '../helpers/wire.ts'

const CODE = 'a-code-that-has-not-been-redeemed'
const SENT = { grant_type: 'authorization_code', code: CODE, client_id: PORTAL.clientId }
const QUERIES = { method_not_allowed: SENT, credentials_in_url: { ...SENT, client_secret: PORTAL.clientSecret } }

interface Case {
  server?: FastifyServerOptions
  prepare?: (app: FastifyInstance) => unknown
  path?: string
}

const hosts: Record<string, Case> = {
  'a host': {},
  'slashes, case, HEAD routes, pages of its own and @fastify/cors': {
    server: { exposeHeadRoutes: true, ...routerOptions({ ignoreTrailingSlash: true, caseSensitive: false }) },
    path: '/OAuth/token/',
    async prepare (app) {
      await app.register(cors, { origin: true, preflight: false })
      app.get('/*', async () => 'page')
      app.setNotFoundHandler(async (_request, reply) => await reply.code(404).send('page'))
    }
  }
}

for (const [name, { server, prepare = () => {}, path = '/oauth/token' }] of Object.entries(hosts)) {
  t.test(name, async (t) => {
    const log = capture()
    const { url, events } = await startHost(t, {}, { server: { logger: log.logger, ...server }, prepare })
    for (const [reason, query] of Object.entries(QUERIES)) {
      const response = await wire(url).send(`${path}?${String(new URLSearchParams(query))}`)
      t.match(response, { status: 405, json: { error: 'invalid_request', error_description: String } }, reason)
      t.match(Object.fromEntries(response.headers), { allow: 'POST', 'cache-control': 'no-store' }, reason)
      t.notOk(response.headers.has('access-control-allow-origin'), reason)
      t.match(events.splice(0), [{ type: 'request_rejected', reason }], reason)
      t.match(log.text(), `"url":"${path}?…"`, reason)
    }
    for (const secret of [CODE, ...[PORTAL.clientSecret].flatMap((text) => [text, encodeURIComponent(text)])]) {
      t.notMatch(log.text(), secret, secret)
    }
    for (const method of ['HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const { headers } = await wire(url).send('/oauth/token', { method })
      t.notOk(headers.has('pragma'), `${method} is left to the host`)
    }
    t.equal((await wire(url).user(await wire(url).accessToken())).status, 200)
  })
}

t.test('its options are those of the token endpoint; an error of the host is left to its error handler', async (t) => {
  const onRequest = async () => { throw Object.assign(new Error('own'), { statusCode: 418 }) }
  const routeOptions = (route: string) => route === 'token' ? { onRequest } : {}
  const { url, events } = await startHost(t, { routeOptions })
  t.equal((await wire(url).send('/oauth/token')).status, 418)
  t.strictSame(events, [])
})
