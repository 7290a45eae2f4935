// The host responds in place of the plugin: a hook of its own refuses the request, or throws. The response is the
// host's, no event reports it, and the protective headers of the three routes are kept.
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { hasPolicy, isGuarded, isPrivate } from '../contract/replies.ts'
import { startApp } from '../app.ts'
import { wire } from '../wire.ts'
import type { WireResponse, Wire } from '../wire.ts'

interface Instead {
  routeOptions?: PartnerSsoOptions['routeOptions']
  prepare (app: FastifyInstance): unknown
  status: number
  json: unknown
  headers?: Record<string, string>
}

const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/** A hook throws. */
const throwAt = (stage: (typeof stages)[number], thrown: unknown) => (app: FastifyInstance) =>
  // One signature serves all four: each of them may return a promise.
  app.addHook(stage as 'onRequest', async () => await Promise.reject(thrown))

const parserError = Object.assign(new Error('of the host'), {
  statusCode: 409, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
})

const hosts: Record<string, Instead> = {
  'a reply': {
    prepare: (app) => app.addHook('onRequest', async (_request, reply) => {
      await reply.code(401).send({ own: 1 })
    }),
    status: 401,
    json: { own: 1 }
  },
  ...Object.fromEntries(stages.map((stage) => [`what ${stage} throws, with a code of Fastify's body parsers`, {
    prepare: throwAt(stage, parserError),
    status: 409,
    json: { statusCode: 409, code: parserError.code, error: 'Conflict', message: 'of the host' }
  }])),
  'a thrown text, and an error handler': {
    prepare: (app) => throwAt('preHandler', 'text')(
      app.setErrorHandler((error, _request, reply) => reply.code(418).send({ thrown: error }))),
    status: 418,
    json: { thrown: 'text' }
  },
  '@fastify/rate-limit for our routes': {
    routeOptions: { config: { rateLimit: { max: 0 } } },
    prepare: (app) => app.register(rateLimit, { global: false }),
    status: 429,
    json: {
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'Rate limit exceeded, retry in 1 minute'
    },
    headers: { 'retry-after': '60' }
  }
}

for (const [name, { routeOptions, prepare, status, json, headers = {} }] of Object.entries(hosts)) {
  t.test(name, async (t) => {
    const { url, events } = await startApp(t, { options: { routeOptions }, prepare })
    const portal = wire(url)
    for (const response of [await portal.authorize(), await portal.token({ code: 'x' }), await portal.user('x')]) {
      t.strictSame([response.status, response.json], [status, json], response.request)
      t.equal(response.headers.get('location'), null, response.request)
      t.equal(response.headers.get('partner-sso'), null, response.request)
      isPrivate(t, response, headers)
    }
    t.strictSame(events, [], 'no refusal of ours')
  })
}

type Send = (portal: Wire, headers: Record<string, string>) => Promise<WireResponse>

const sends: Record<string, Send> = {
  'authorize: a page': (portal, headers) =>
    portal.authorize({ client_id: 'other' }, null, { accept: 'text/html', ...headers }),
  'authorize: a refusal in JSON': (portal, headers) => portal.authorize({ client_id: 'other' }, null, headers),
  'authorize: a refusal by redirect': (portal, headers) => portal.authorize({ response_type: 'token' }, null, headers),
  'authorize: a code': (portal, headers) => portal.authorize({}, 'ada', headers),
  'token: a token': async (portal, headers) => await portal.token({ code: await portal.code() }, headers),
  'token: a refusal': (portal, headers) => portal.token({ code: 'x' }, headers),
  'token: wrong credentials': (portal, headers) => portal.token({ code: 'x', client_secret: 'x' }, headers),
  'token: by GET': (portal, headers) => portal.send('/oauth/token', { headers }),
  'user: a record': async (portal, headers) => await portal.user(await portal.accessToken(), headers),
  'user: a refusal': (portal, headers) => portal.user('x', headers)
}

/** An onSend hook that throws where the request asks for it: once, or for the response to the error as well. */
const breaking = (app: FastifyInstance) => app.addHook('onSend', async ({ headers }, reply) => {
  const isFirst = !reply.hasHeader('x-broken')
  reply.header('x-broken', '1')
  if (headers['x-break'] === 'always' || (headers['x-break'] === 'once' && isFirst)) throw new Error('of the host')
  if (headers['x-break'] === 'with a status') throw Object.assign(new Error('of the host'), { statusCode: 409 })
})

const OWN = "form-action 'self'"
const ownPage = (app: FastifyInstance) => app.setErrorHandler((_error, _request, reply) =>
  reply.type('text/html').header('content-security-policy', OWN).send('<form></form>'))

/** How often it throws; the status, the text and the policy of what is sent then. */
const rows: Record<string, [prepare: typeof breaking, status: number, text: string, policy: string]> = {
  once: [(app) => ownPage(breaking(app)), 500, '<form></form>', `${OWN}, frame-ancestors 'none'`],
  always: [breaking, 500, '"message":"of the host"', "frame-ancestors 'none'"],
  'with a status': [breaking, 409, '"message":"of the host"', "frame-ancestors 'none'"]
}

for (const [times, [prepare, expected, text, policy]] of Object.entries(rows)) {
  t.test(`onSend throws while a response of ours is sent: ${times}`, async (t) => {
    const { url } = await startApp(t, { prepare })
    for (const [what, send] of Object.entries(sends)) {
      const response = await send(wire(url), { 'x-break': times })
      t.equal(response.status, expected, what)
      t.match(response.text, text, what)
      for (const name of ['location', 'partner-sso', 'cross-origin-opener-policy', 'www-authenticate', 'allow']) {
        t.equal(response.headers.get(name), null, `${what}: ${name}`)
      }
      if (what.startsWith('authorize')) hasPolicy(t, response, policy)
      else isPrivate(t, response)
    }
  })
}

t.test('a redirect of the host stays one', async (t) => {
  const { url } = await startApp(t, {
    prepare (app) {
      breaking(app)
      app.addHook('preHandler', async ({ headers }, reply) => {
        if (headers['x-break'] !== undefined) return
        reply.header('location', '/sorry')
        throw new Error('before the handler of the plugin')
      })
      app.setErrorHandler((_error, { headers }, reply) =>
        headers['x-break'] === undefined ? reply.code(302).send() : reply.redirect('/sorry', 302))
    }
  })
  for (const headers of [{}, { 'x-break': 'once' }]) {
    const response = await wire(url).authorize({ response_type: 'token' }, null, headers)
    t.equal(response.headers.get('location'), '/sorry', JSON.stringify(headers))
    isGuarded(t, response)
  }
})
