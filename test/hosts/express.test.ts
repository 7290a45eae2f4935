// Express and Fastify in one app: Express middleware by @fastify/express and @fastify/middie, and an Express app that
// mounts a Fastify.
import fastifyExpress from '@fastify/express'
import middie from '@fastify/middie'
import express from 'express'
import type { RequestHandler } from 'express'
import type { FastifyInstance } from 'fastify'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import t from 'tap'
import type { Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import type { PartnerSsoEvent, PartnerSsoOptions } from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isRefused } from '../contract/replies.ts'
import { Fastify } from '../helpers/fastify.ts'
import { hostOptions, PORTAL, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { wire } from '../helpers/wire.ts'
import type { Wire } from '../helpers/wire.ts'

/** Both plugins add `use`, each with types of its own. */
type WithMiddleware = FastifyInstance & { use (middleware: RequestHandler): unknown }

const bridges = { '@fastify/express': fastifyExpress, '@fastify/middie': middie }

const openToAll: RequestHandler = (_request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Cache-Control', 'public')
  next()
}

/** The state is sent as it stands here: no library may encode it again. */
async function keepsState (t: Test, portal: Wire): Promise<void> {
  const { clientId, redirectUri } = PORTAL
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, response_type: 'code' })
  for (const state of ['a%252Fb', '%2520', 'a%2Fb', '%25', '%C3%A9', 'a+b', '%26client_id%3Dx', '%23', '%3B']) {
    const init = { headers: { 'x-user': 'alice' } }
    const { headers } = await portal.send(`/oauth/authorize?${query}&state=${state}`, init)
    t.equal(headers.get('location')?.replace(/^.*&state=/, ''), state, 'the state is echoed byte for byte')
  }
}

for (const [name, bridge] of Object.entries(bridges)) {
  t.test(`middleware by ${name}`, async (t) => {
    const { url } = await startHost(t, { loginPage: '/login' }, {
      async prepare (app) {
        await app.register(bridge as typeof fastifyExpress)
        ;(app as unknown as WithMiddleware).use(openToAll)
      }
    })
    await keepsContract(t, wire(url))
    await keepsState(t, wire(url))
    const { headers } = await wire(url).authorize({ state: 'a%2Fb' }, null)
    const { searchParams } = new URL(headers.get('location') as string, url)
    const returnTo = searchParams.get('return_to') as string
    t.equal(new URL(returnTo, url).searchParams.get('state'), 'a%2Fb', 'return_to is the URL that the browser sent')
  })
}

/** An Express app with a Fastify at a path; returns the base URL of the plugin's routes. */
async function mounted (
  t: Test,
  overrides: Partial<PartnerSsoOptions<User>>,
  { path = '/', logger, middleware = [] }: { path?: string, logger?: object, middleware?: RequestHandler[] } = {}
): Promise<string> {
  const app = Fastify(logger === undefined ? {} : { logger })
  await app.register(partnerSso<User>, hostOptions(overrides))
  await app.ready()
  const host = express()
  for (const each of middleware) host.use(each)
  host.get('/own', (_request, response) => { response.send('own') })
  host.use(path, (request, response) => { app.routing(request, response) })
  const server = createServer(host)
  // As Fastify has it. After Node's five seconds, `fetch` may use a connection again while the server closes it.
  server.keepAliveTimeout = 72_000
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path === '/' ? '' : path}`
}

t.test('a Fastify that Express mounts', async (t) => {
  for (const path of ['/', '/partner']) {
    const url = await mounted(t, { loginPage: '/login' }, { path, middleware: [openToAll] })
    await keepsContract(t, wire(url))
    await keepsState(t, wire(url))
    const { headers } = await wire(url).authorize({}, null)
    const expected = `/login?return_to=${encodeURIComponent(`${path === '/' ? '' : path}/oauth/authorize?`)}`
    t.equal(headers.get('location')?.startsWith(expected), true, 'return_to is the URL that the browser asked for')
  }
})

const parsers: Record<string, RequestHandler> = {
  'express.urlencoded()': express.urlencoded({ extended: false }),
  'express.raw()': express.raw({ type: '*/*' }),
  'express.text()': express.text({ type: '*/*' })
}

/** How an app puts a body parser of Express in front of Fastify, and returns the base URL. */
type InFront = (
  t: Test, parser: RequestHandler, overrides: Partial<PartnerSsoOptions<User>>, logger: object
) => Promise<string>

async function bridged (bridge: typeof fastifyExpress, ...given: Parameters<InFront>): Promise<string> {
  const [t, parser, overrides, logger] = given
  const { url } = await startHost(t, overrides, {
    server: { logger },
    async prepare (app) {
      await app.register(bridge)
      ;(app as unknown as WithMiddleware).use(parser)
    }
  })
  return url
}

const inFront: Record<string, InFront> = {
  '@fastify/express': async (...given) => await bridged(fastifyExpress, ...given),
  '@fastify/middie': async (...given) => await bridged(middie as unknown as typeof fastifyExpress, ...given),
  'an Express app': async (t, parser, overrides, logger) =>
    await mounted(t, overrides, { logger, middleware: [parser] })
}

for (const [how, start] of Object.entries(inFront)) {
  for (const [what, parser] of Object.entries(parsers)) {
    t.test(`${what} in front of the token endpoint, by ${how}`, async (t) => {
      const events: PartnerSsoEvent[] = []
      const lines: string[] = []
      const stream = new Writable({ write (line, _encoding, done) { lines.push(String(line)); done() } })
      const url = await start(t, parser, { onEvent: (event) => events.push(event) }, { stream })
      // The limit only ends a hang; an answer needs no such time.
      const limit = { signal: AbortSignal.timeout(10_000) }
      const portal = wire(url, undefined, { fetch: async (target, init) => await fetch(target, { ...init, ...limit }) })
      const code = await portal.code()
      events.length = 0
      const answer = await portal.token({ code })
      isRefused(t, answer, 400, 'invalid_request', answer.json.error_description)
      t.match(events, [{ type: 'request_rejected', reason: 'body_already_read' }])
      const logged = lines.find((line) => line.includes('body_already_read')) ?? '{}'
      t.match(JSON.parse(logged), { level: 50, event: 'request_rejected' }, 'logged as an error of the host')
      t.match(logged, /body parser/i, 'the log says what to change')
    })
  }
}
