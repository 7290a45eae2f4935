// Code that runs before Fastify's own parsing: Express middleware by @fastify/express, an Express
// app that mounts a Fastify, rewritten URLs.
import fastifyExpress from '@fastify/express'
import express from 'express'
import type { RequestHandler } from 'express'
import type { preParsingHookHandler } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { refusals } from '../../lib/errors.ts'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { isRefused } from '../contract/replies.ts'
import { PORTAL, startHost } from '../helpers/host.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { wire } from '../helpers/wire.ts'

const parser = express.urlencoded({ extended: false })

/** Opens each response to all, and reads the body of a request that asks for it. */
const middleware: RequestHandler = (request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Cache-Control', 'public')
  if ('x-parse' in request.headers) parser(request, response, next)
  else next()
}

/** An app with middleware in front of the plugin; the base URL of the routes. */
type Host = (t: Test) => Promise<{ url: string, events: PartnerSsoEvent[] }>

const bridged: Host = async (t) =>
  await startHost(t, { loginPage: '/login' }, {
    async prepare (app) {
      await app.register(fastifyExpress)
      app.use(middleware)
    }
  })

const mounted: Host = async (t) => {
  const path = '/partner'
  const { app, events } = await startHost(t, { loginPage: '/login' })
  const host = express()
  host.use(middleware)
  host.use(`${path}/`, (request, response) => { app.routing(request, response) })
  return { url: await httpServer(t, host) + path, events }
}

const hosts: Record<string, Host> = {
  '@fastify/express': bridged,
  'an Express app': mounted
}

const STATES = ['a%252Fb', '%C3%A9', 'a+b%20c', '%26client_id%3Dx', '%25', '%23']
// @fastify/express refuses a URL that decodeURI cannot read, before any route is asked.
const NO_UTF8 = ['%E9', '%zz']

/** The state comes back as it was sent, also after a login. No library encodes again. */
async function keepsQuery (t: Test, url: string, states: string[]): Promise<void> {
  const { clientId, redirectUri } = PORTAL
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, response_type: 'code' })
  for (const state of states) {
    const path = `/oauth/authorize?${query}&state=${state}`
    const { headers } = await wire(url).send(path, { headers: { 'x-user': 'alice' } })
    t.equal(headers.get('location')?.replace(/^.*[?&]state=/, ''), state, state)
    const { redirect } = await wire(url).send(path)
    t.equal(redirect.get('return_to'), path, state)
  }
}

for (const [name, start] of Object.entries(hosts)) {
  t.test(name, async (t) => {
    const { url, events } = await start(t)
    const portal = wire(url)
    await keepsContract(t, portal)
    await keepsQuery(t, url, name === '@fastify/express' ? STATES : [...STATES, ...NO_UTF8])
    const response = await portal.token({ code: await portal.code() }, { 'x-parse': '1' })
    isRefused(t, response, 400, 'invalid_request', 'The body cannot be read.')
    t.match(events.at(-1), { type: 'request_rejected', reason: 'body_already_read' })
  })
}

t.test('rewriteUrl', async (t) => {
  const { url } = await startHost(t, { loginPage: '/login' }, {
    server: { rewriteUrl: ({ url = '' }) => unescape(url).replace(/^\/partner\//, '/') }
  })
  await keepsContract(t, wire(`${url}/partner`))
  await keepsQuery(t, `${url}/partner`, [...STATES, ...NO_UTF8])
})

t.test('a platform that reads every body, as Google Cloud Functions does: the line of the hint', async (t) => {
  const [, line = ''] = /`preParsing: (async .*?)`/.exec(refusals.body_already_read.hint ?? '') ?? []
  const source = `import { Readable } from 'node:stream'; export const preParsing = ${line}`
  const url = `data:text/javascript,${encodeURIComponent(source)}`
  const { preParsing } = await import(url) as { preParsing: preParsingHookHandler }
  const { app } = await startHost(t, { routeOptions: (route) => route === 'token' ? { preParsing } : {} })
  const host = express()
  host.use(express.urlencoded({ verify: (request, _response, rawBody) => Object.assign(request, { rawBody }) }))
  host.use((request, response) => { app.routing(request, response) })
  const portal = wire(await httpServer(t, host))
  t.match((await portal.user(await portal.accessToken())).json, { external_id: 'alice' })
})
