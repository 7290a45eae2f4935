// A portal that requests its token by GET, or by any other method: its secret and its code are in the URL, and in no
// line of the log. Routes of the host on these paths are served, wherever the host adds them.
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import { routerOptions } from '../helpers/fastify.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { capture } from '../helpers/log.ts'
import { request, say } from '../helpers/raw-requests.ts'
import { wire } from '../helpers/wire.ts'

const CODE = 'a-code-that-has-not-been-redeemed'
const TOKEN = 'a-token-that-has-not-been-redeemed'
const SENT = { grant_type: 'authorization_code', code: CODE, client_id: PORTAL.clientId }

const SENT_TO = {
  token: { allow: 'POST', query: { ...SENT, client_secret: PORTAL.clientSecret }, reason: 'credentials_in_url' },
  user: { allow: 'GET', query: { access_token: TOKEN }, reason: 'method_not_allowed' }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

const isIn = (text: string, secret: string) => text.includes(secret) || text.includes(encodeURIComponent(secret))

interface Case {
  server?: FastifyServerOptions
  prepare?: (app: FastifyInstance) => unknown
  /** Whether it serves `/OAuth/token/` as well. */
  otherPath?: boolean
}

const hosts: Record<string, Case> = {
  'a host': {},
  'a host that ignores trailing slashes and case': {
    server: routerOptions({ ignoreTrailingSlash: true, caseSensitive: false }), otherPath: true
  },
  'a host with HEAD routes, pages of its own and @fastify/cors': {
    server: { exposeHeadRoutes: true },
    async prepare (app) {
      await app.register(cors, { strictPreflight: false, preflight: false })
      app.get('/*', async () => 'page')
      app.all('/oauth/:page', async () => 'page')
      app.setNotFoundHandler(async () => 'page')
    }
  },
  'a host that knows more methods': { prepare: (app) => app.addHttpMethod('PROPFIND') }
}

for (const [name, { server, prepare = () => {}, otherPath = false }] of Object.entries(hosts)) {
  t.test(name, async (t) => {
    const log = capture()
    const { app, url, events } = await startHost(t, {}, { server: { logger: log.logger, ...server }, prepare })
    const methods = app.supportedMethods.includes('PROPFIND') ? [...METHODS, 'PROPFIND'] : METHODS
    for (const [endpoint, { allow, query, reason }] of Object.entries(SENT_TO)) {
      const paths = [`/oauth/${endpoint}`, otherPath ? [`/OAuth/${endpoint}/`] : []].flat()
      for (const target of paths.map((path) => `${path}?${String(new URLSearchParams(query))}`)) {
        for (const method of methods.filter((method) => method !== allow)) {
          const sent = `${method} ${target}`
          const { text } = await say(url, request(sent, method === 'PUT' ? ['Content-Type: text/x'] : []))
          t.match(text, /^HTTP\/1\.1 405 /, sent)
          t.match(text, new RegExp(`^allow: ${allow}\r$`, 'm'), sent)
          t.match(text, /^cache-control: no-store\r$/m, sent)
          t.match(events.splice(0), [{ type: 'request_rejected', reason }], sent)
          t.notOk(Object.values(query).some((value) => value !== SENT.grant_type && text.includes(value)), sent)
        }
        t.match(log.text(), `"url":"${target.replace(/\?.*/, '?…')}"`, target)
      }
    }
    for (const secret of [CODE, TOKEN, PORTAL.clientSecret]) t.notOk(isIn(log.text(), secret), secret)
    t.equal((await wire(url).user(await wire(url).accessToken())).status, 200)
  })
}

t.test('without a secret in the URL', async (t) => {
  const { url, events } = await startHost(t)
  const response = await wire(url).send(`/oauth/token?${String(new URLSearchParams(SENT))}`)
  t.match(response.json, { error: 'invalid_request', error_description: String })
  t.match(events, [{ type: 'request_rejected', reason: 'method_not_allowed' }])
})

t.test('the host sets its options as those of the endpoint', async (t) => {
  const asked: string[] = []
  const onRequest = async ({ method }: { method: string }) => { asked.push(method) }
  const routeOptions = (route: string) => route === 'token' ? { onRequest } : {}
  const { url } = await startHost(t, { routeOptions })
  t.equal((await wire(url).send('/oauth/token')).status, 405)
  t.equal((await wire(url).send('/oauth/user', { method: 'PUT' })).status, 405)
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
  const prepare = (app: FastifyInstance) => app.register(cors, { origin: true })
  const { url } = await startHost(t, { routeOptions: { onSend } }, { prepare })
  const init = { headers: { origin: 'https://other.example' } }
  const { status, headers } = await wire(url).send('/oauth/token', init)
  t.strictSame([status, headers.get('cache-control')], [405, 'no-store'])
  t.equal(headers.get('access-control-allow-origin'), null)
})

t.test('a preflight of @fastify/cors: no other origin may ask', async (t) => {
  const log = capture()
  const prepare = (app: FastifyInstance) => app.register(cors, { origin: true })
  const { url } = await startHost(t, {}, { server: { logger: log.logger }, prepare })
  const headers = ['Origin: https://other.example', 'Access-Control-Request-Method: GET']
  const { text } = await say(url, request(`OPTIONS /oauth/token?code=${CODE}`, headers))
  t.match(text, /^HTTP\/1\.1 204 /)
  t.notMatch(text, /^access-control-/im)
  t.match(log.text(), '"url":"/oauth/token?…"')
})

t.test('routes of the host on these paths are served, before the plugin and after it', async (t) => {
  const own = (app: FastifyInstance, method: 'GET' | 'DELETE') =>
    app.route({ method, url: '/oauth/token', handler: async ({ query }) => ({ method, query }) })
  const { url, events } = await startHost(t, {}, {
    prepare: (app) => { own(app, 'DELETE') },
    finish (app) {
      own(app, 'GET')
      app.options('/oauth/user', async () => 'own')
    }
  })
  const at = wire(url)
  t.strictSame((await at.send('/oauth/token?page=1')).json, { method: 'GET', query: { page: '1' } })
  t.strictSame((await at.send('/oauth/token', { method: 'DELETE' })).json, { method: 'DELETE', query: {} })
  t.equal((await at.send('/oauth/user', { method: 'OPTIONS' })).text, 'own')
  t.strictSame(events, [])
  t.equal((await at.send('/oauth/token', { method: 'PUT' })).status, 405)
  t.equal((await at.user(await at.accessToken())).status, 200)
})
