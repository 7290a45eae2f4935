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
import { personOf, sessionOf, startApp } from '../app.ts'
import { authorizePath, wire } from '../wire.ts'
import type { Fetch } from '../wire.ts'

interface Beside {
  overrides?: Partial<PartnerSsoOptions<string>>
  server?: FastifyServerOptions
  /** Before the plugin is registered. */
  prepare? (app: FastifyInstance): unknown
  /** How the portal and the browser send their requests. */
  fetch?: Fetch
  /** One more request, by default to a route of the host: what the host does to its responses is still done. */
  path?: string
  init?: RequestInit
  response?: { status: number, json?: object }
  headers?: Record<string, string | RegExp>
}

const form = {
  path: '/form',
  init: {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'a[b]=1&a[c]=2&d=3'
  }
}

const bodies: Record<string, Beside> = {
  '@fastify/formbody': {
    ...form,
    prepare: (app) => app.register(formbody),
    response: { status: 200, json: { 'a[b]': '1', 'a[c]': '2', d: '3' } }
  },
  'no parser for forms': { ...form, response: { status: 415 } },
  // Where a platform reads every body before, as the hint of `body_already_read` has it.
  'a hook that replaces the body': {
    prepare: (app) => app.addHook('preParsing', async (_request, _reply, body) =>
      Readable.from([Buffer.concat(await body.toArray())]))
  }
}

function refuseSchema (): never {
  throw new Error('Our routes have nothing to compile')
}

const refusing = {
  schemaController: { compilersFactory: { buildValidator: () => refuseSchema, buildSerializer: () => refuseSchema } }
} as unknown as FastifyServerOptions

const compilers: Record<string, Beside> = {
  'compilers that refuse every schema, and a schema for our routes': {
    server: refusing,
    overrides: {
      routeOptions: { schema: { tags: ['Portal'], query: {}, params: {}, response: { '4xx': {} } } as object }
    },
    prepare: (app) => app.addHook('onRequest', async ({ routeOptions }, reply) => {
      reply.header('x-schema', JSON.stringify(routeOptions.schema))
    }),
    path: '/oauth/user',
    response: { status: 401 },
    headers: { 'x-schema': '{"tags":["Portal"]}' }
  }
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

const routes: Record<string, Beside> = {
  'routeOptions that would replace what is ours': {
    overrides: {
      routeOptions: routeOptions as object,
      currentUser (request) {
        if (personOf(request) === 'bob') throw new Error('of the host')
        return personOf(request)
      }
    },
    // What fails reaches the error handler of its route.
    path: authorizePath('x'),
    init: { headers: { cookie: sessionOf('bob') } },
    response: { status: 302 },
    headers: { 'x-of-host': '1', location: /[?&]error=server_error&/ }
  },
  'a handlerTimeout that is not reached': { server: { handlerTimeout: 60_000 } },
  'slashes and letter case that make no difference': {
    server: routerOptions({ ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false }),
    fetch: async (target, init) => await fetch(target.replace(/\/oauth\/(\w+)/, '//OAuth/$1/'), init)
  }
}

const origin = { origin: 'https://elsewhere.example' }

const plugins: Record<string, Beside> = {
  // The host may be read by pages of another origin, our routes not (RFC 9700 section 2.6).
  '@fastify/cors': {
    prepare: (app) => app.register(cors, { origin: true, credentials: true }),
    fetch: (target, init) => fetch(target, {
      ...init,
      headers: { ...init.headers, ...origin }
    }),
    init: { headers: origin },
    headers: {
      'access-control-allow-origin': origin.origin,
      'access-control-allow-credentials': 'true'
    }
  },
  '@fastify/helmet': {
    prepare: (app) => app.register(helmet, { referrerPolicy: { policy: 'unsafe-url' } }),
    headers: {
      'content-security-policy': /^default-src 'self';/,
      'referrer-policy': 'unsafe-url'
    }
  },
  '@fastify/session': {
    async prepare (app) {
      await app.register(cookie)
      await app.register(session, { secret: 'a secret of at least thirty-two characters', cookie: { secure: false } })
    },
    headers: { 'set-cookie': /./ }
  }
}

for (const [name, host] of Object.entries({ ...bodies, ...compilers, ...routes, ...plugins })) {
  t.test(name, async (t) => {
    const { overrides = {}, server = {}, prepare = () => {}, fetch = globalThis.fetch, path = '/own', init } = host
    const { url } = await startApp(t, {
      login: false,
      options: overrides,
      server,
      prepare,
      finish: (app) => app.get('/own', async () => ({ a: 1 })).post('/form', async ({ body }) => body)
    })
    await keepsContract(t, wire(url, undefined, { fetch }))

    const response = await wire(url).send(path, init)
    t.match(response, host.response ?? { status: 200 })
    t.match(Object.fromEntries(response.headers), host.headers ?? {})
  })
}
