// Plugins, parsers, compilers and hooks of the host: the contract holds, and the host's own routes are as if the plugin
// were not there.
import cookie from '@fastify/cookie'
import cors from '@fastify/cors'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import session from '@fastify/session'
import type { FastifyInstance, FastifyReply, FastifyServerOptions } from 'fastify'
import { Readable } from 'node:stream'
import t from 'tap'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { routerOptions } from '../helpers/fastify.ts'
import { startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import type { Fetch } from '../helpers/wire.ts'

interface Beside {
  overrides?: Partial<PartnerSsoOptions<User>>
  server?: FastifyServerOptions
  /** Before the plugin is registered. */
  prepare? (app: FastifyInstance): unknown
  /** After it. */
  finish? (app: FastifyInstance): unknown
  /** How the portal and the browser send their requests. */
  fetch?: Fetch
  /** One more request, by default to a route of the host: what the host does to its responses is still done. */
  own?: { path?: string, init?: RequestInit, status?: number, json?: object, headers?: Record<string, string | RegExp> }
}

const withHeaders = (headers: Record<string, string>): Fetch => (target, init) =>
  fetch(target, { ...init, headers: { ...init.headers, ...headers } })

const form = {
  path: '/form?x[y]=1',
  init: {
    method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a[b]=1&a[c]=2&d=3'
  }
}
const flat = { ...form, json: { body: { 'a[b]': '1', 'a[c]': '2', d: '3' }, query: { 'x[y]': '1' } } }

const forms: Record<string, Beside> = {
  '@fastify/formbody, registered before': { prepare: (app) => app.register(formbody), own: flat },
  '@fastify/formbody, registered after': { finish: (app) => app.register(formbody), own: flat },
  'a parser for any body': {
    prepare (app) {
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, `text: ${body}`))
    },
    own: { ...form, json: { body: 'text: a[b]=1&a[c]=2&d=3' } }
  },
  'no parser for forms': { own: { ...form, status: 415 } },
  'a hook that replaces the body': {
    prepare: (app) => app.addHook('preParsing', async (_request, _reply, body) => {
      const bytes = Buffer.concat(await body.toArray())
      return Object.assign(Readable.from([bytes]), { receivedEncodedLength: bytes.length })
    })
  }
}

const compilers: Record<string, Beside> = {
  'compilers that refuse every schema, and a schema for our routes': {
    server: {
      schemaController: {
        compilersFactory: { buildValidator: () => refuseSchema, buildSerializer: () => refuseSchema }
      }
    } as unknown as FastifyServerOptions,
    overrides: {
      routeOptions: { schema: { tags: ['Portal'], query: {}, params: {}, response: { '4xx': {} } } as object }
    },
    prepare: (app) => app.addHook('onRequest', async ({ routeOptions }, reply) => {
      reply.header('x-schema', JSON.stringify(routeOptions.schema))
    }),
    own: { path: '/oauth/user', headers: { 'x-schema': '{"tags":["Portal"]}' } }
  }
}

function refuseSchema (): never {
  throw new Error('Our routes have nothing to compile')
}

const routeOptions = {
  handler: (_request: unknown, reply: FastifyReply) => reply.code(299).send('of the host'),
  errorHandler: (_error: unknown, _request: unknown, reply: FastifyReply) => reply.code(298).send('of the host'),
  method: 'PUT',
  url: '/elsewhere',
  exposeHeadRoute: true,
  onSend: async (_request: unknown, reply: FastifyReply) => {
    reply.header('cache-control', 'public').header('x-of-host', '1')
  }
}

const hooks: Record<string, Beside> = {
  'a login that the config of our routes lets past': {
    overrides: { routeOptions: { config: { public: true } as object } },
    prepare (app) {
      app.addHook('onRequest', async ({ routeOptions, is404 }, reply) => {
        if (!is404 && !('public' in routeOptions.config)) await reply.code(401).send({ problem: 'log in' })
      })
    },
    own: { status: 401, json: { problem: 'log in' } }
  },
  'routeOptions that would replace what is ours': {
    overrides: { routeOptions: routeOptions as object },
    own: { path: '/oauth/user', status: 401, headers: { 'x-of-host': '1' } }
  },
  'a handlerTimeout that is not reached': { server: { handlerTimeout: 60_000 } }
}

const origin = 'https://elsewhere.example'

const plugins: Record<string, Beside> = {
  // The host may be read by pages of another origin, our routes not (RFC 9700 section 2.6).
  '@fastify/cors': {
    prepare: (app) => app.register(cors, { origin: true, credentials: true }),
    fetch: withHeaders({ origin }),
    own: {
      init: { headers: { origin } },
      headers: { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' }
    }
  },
  '@fastify/helmet': {
    prepare: (app) => app.register(helmet, { referrerPolicy: { policy: 'unsafe-url' } }),
    own: { headers: { 'content-security-policy': /^default-src 'self';/, 'referrer-policy': 'unsafe-url' } }
  },
  '@fastify/session': {
    async prepare (app) {
      await app.register(cookie)
      await app.register(session, { secret: 'a secret of at least thirty-two characters', cookie: { secure: false } })
    },
    own: { headers: { 'set-cookie': /./ } }
  }
}

const routers: Record<string, Beside> = {
  'slashes and letter case that make no difference': {
    server: routerOptions({ ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false }),
    fetch: async (target, init) => await fetch(target.replace(/\/oauth\/(\w+)/, '//OAuth/$1/'), init)
  },
  useSemicolonDelimiter: { server: routerOptions({ useSemicolonDelimiter: true } as object) },
  constraints: {
    overrides: { routeOptions: { constraints: { version: '2.0.0' } } },
    fetch: withHeaders({ 'accept-version': '2.x' }),
    own: { path: '/oauth/user', status: 404 }
  }
}

for (const [name, host] of Object.entries({ ...forms, ...compilers, ...hooks, ...plugins, ...routers })) {
  t.test(name, async (t) => {
    const { overrides, server = {}, prepare = () => {}, finish = () => {}, fetch = globalThis.fetch, own = {} } = host
    const { url } = await startHost(t, overrides, {
      server,
      prepare,
      async finish (app) {
        await finish(app)
        app.get('/own', async () => ({ a: 1 }))
        app.post('/form', async ({ body, query }) => ({ body, query }))
      }
    })
    await keepsContract(t, wire(url, undefined, { fetch }))

    const { path = '/own', init = {}, status = path === '/oauth/user' ? 401 : 200, json, headers = {} } = own
    const response = await wire(url).send(path, init)
    t.equal(response.status, status)
    if (json !== undefined) t.match(response.json, json)
    t.match(Object.fromEntries(response.headers), headers)
  })
}
