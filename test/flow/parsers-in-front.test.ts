// What stands before Fastify's own parsing: @fastify/express, @fastify/middie, Express itself, URLs that are rewritten.
import fastifyExpress from '@fastify/express'
import middie from '@fastify/middie'
import express from 'express'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { refusals } from '../../lib/errors.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isRefused } from '../contract/replies.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'

interface Middlewares { use (...middlewares: unknown[]): void }

const STATES = ['a%252Fb', 'a%2Fb', '%C3%A9', 'a+b%20c', '%26x%3D1%23', '%25', '%3Cb%3E']
// @fastify/express refuses a URL that decodeURI cannot read, before any route is asked.
const NO_UTF8 = ['%E9', '%zz']

/** The state comes back as it was sent, and so does the way back from the login page. */
async function keepsQuery (t: Test, url: string, states = [...STATES, ...NO_UTF8]): Promise<void> {
  const target = new URLSearchParams(Object.entries({ ...wireParameters, response_type: 'code' })).toString()
  for (const state of states) {
    const path = `/oauth/authorize?${target}&state=${state}`
    const { headers } = await fetch(url + path, { redirect: 'manual', headers: { 'x-user': 'alice' } })
    t.equal(/[?&]state=([^&]*)$/.exec(headers.get('location') ?? '')?.[1], state, state)
    const login = await fetch(url + path, { redirect: 'manual' })
    const returnTo = new URL(login.headers.get('location') ?? '', url).searchParams.get('return_to')
    t.ok(returnTo?.endsWith(path), `return_to has ${state}`)
  }
}

const { portal } = hostOptions() as { portal: { clientId: string, redirectUri: string } }
const wireParameters = { client_id: portal.clientId, redirect_uri: portal.redirectUri }

for (const [name, plugin] of [['@fastify/express', fastifyExpress], ['@fastify/middie', middie]] as const) {
  t.test(`${name}: the contract, and every state`, async (t) => {
    const { url } = await startHost(t, {}, {
      async prepare (app) {
        await app.register(plugin)
        ;(app as unknown as Middlewares).use((_request: unknown, _response: unknown, next: () => void) => { next() })
      }
    })
    await keepsContract(t, wire(url))
    const withLogin = await startHost(t, { loginPage: '/login' }, {
      async prepare (app) {
        await app.register(plugin)
        ;(app as unknown as Middlewares).use((_request: unknown, _response: unknown, next: () => void) => { next() })
      }
    })
    await keepsQuery(t, withLogin.url, plugin === fastifyExpress ? STATES : undefined)
  })
}

t.test('rewriteUrl that changes the query as well', async (t) => {
  const { url } = await startHost(t, { loginPage: '/login' }, {
    server: { rewriteUrl: ({ url = '' }) => unescape(url) }
  })
  await keepsQuery(t, url)
})

/** A token request whose body a parser of the host has read. */
async function isAnsweredAtOnce (
  t: Test, url: string, { events, lines }: { events: PartnerSsoEvent[], lines: Array<Record<string, unknown>> }
): Promise<void> {
  const portal = wire(url)
  const code = await portal.code()
  isRefused(t, await portal.token({ code }), 400, 'invalid_request', 'The body cannot be read.')
  t.match(events.at(-1), { type: 'request_rejected', reason: 'body_already_read' })
  const line = lines.find(({ reason }) => reason === 'body_already_read')
  t.match(line, { level: 50, hint: refusals.body_already_read.hint }, 'the log says how to fix it')
  t.match(line?.hint, /express\.urlencoded\(\)/)
}

function logged (): { lines: Array<Record<string, unknown>>, server: object } {
  const lines: Array<Record<string, unknown>> = []
  return { lines, server: { logger: { stream: { write: (line: string) => { lines.push(JSON.parse(line)) } } } } }
}

for (const [name, plugin] of [['@fastify/express', fastifyExpress], ['@fastify/middie', middie]] as const) {
  t.test(`${name} with a body parser`, async (t) => {
    const { lines, server } = logged()
    const { url, events } = await startHost(t, {}, {
      server,
      async prepare (app) {
        await app.register(plugin)
        ;(app as unknown as Middlewares).use(express.urlencoded({ extended: false }))
      }
    })
    await isAnsweredAtOnce(t, url, { events, lines })
  })

  t.test(`${name} with a body parser on paths of its own`, async (t) => {
    const { url } = await startHost(t, {}, {
      async prepare (app) {
        await app.register(plugin)
        ;(app as unknown as Middlewares).use('/own', express.urlencoded({ extended: false }))
      }
    })
    await keepsContract(t, wire(url))
  })
}

t.test('a hook of the host that reads the body, and one that replaces it', async (t) => {
  const { lines, server } = logged()
  const { url, events } = await startHost(t, {}, {
    server,
    prepare: (app) => app.addHook('preParsing', async (_request, _reply, body) => {
      for await (const chunk of body) Buffer.from(chunk)
      return body
    })
  })
  await isAnsweredAtOnce(t, url, { events, lines })

  const { Readable } = await import('node:stream')
  const replaced = await startHost(t, {}, {
    prepare: (app) => app.addHook('preParsing', async (_request, _reply, body) => {
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(Buffer.from(chunk))
      return Object.assign(Readable.from(chunks), { receivedEncodedLength: Buffer.concat(chunks).length })
    })
  })
  await keepsContract(t, wire(replaced.url))
})

/** An Express app that passes requests on to a Fastify app with the plugin. */
async function expressHost (
  t: Test, mount: (app: express.Express, routing: RequestListener) => void, server: object = {}
): Promise<{ url: string, events: PartnerSsoEvent[] }> {
  const fastify = Fastify(server) as FastifyInstance
  t.teardown(() => fastify.close())
  const events: PartnerSsoEvent[] = []
  const onEvent = (event: PartnerSsoEvent) => { events.push(event) }
  await fastify.register(partnerSso<User>, hostOptions({ loginPage: '/login', onEvent }))
  await fastify.ready()
  const app = express()
  mount(app, (request, response) => { fastify.routing(request, response) })
  const http = createServer(app)
  // As Fastify has it. After Node's five seconds, `fetch` may use a connection again while the server closes it.
  http.keepAliveTimeout = 72_000
  t.teardown(() => { http.close() })
  await new Promise<void>((resolve) => { http.listen(0, '127.0.0.1', resolve) })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, events }
}

t.test('an Express app that mounts Fastify under a path', async (t) => {
  const { url } = await expressHost(t, (app, routing) => { app.use('/sso', routing) })
  const portal = wire(`${url}/sso`)
  t.equal((await portal.user(await portal.accessToken())).status, 200)
  await keepsQuery(t, `${url}/sso`)
})

t.test('an Express app with a body parser in front', async (t) => {
  const { lines, server } = logged()
  const { url, events } = await expressHost(t, (app, routing) => {
    app.use(express.urlencoded({ extended: false }))
    app.use(routing)
  }, server)
  await isAnsweredAtOnce(t, url, { events, lines })
})
