// Code that runs before Fastify's own parsing: Express middleware by @fastify/express, an Express
// app that mounts a Fastify, rewritten URLs.
import fastifyExpress from '@fastify/express'
import express from 'express'
import type { RequestHandler } from 'express'
import t from 'tap'
import type { Test } from 'tap'
import type { PartnerSsoEvent } from '../../lib/index.ts'
import { keepsContract } from '../contract/keeps-contract.ts'
import { refuses } from '../contract/replies.ts'
import { sessionOf, startApp } from '../app.ts'
import { httpServer } from '../helpers/listen.ts'
import { wire } from '../wire.ts'

const parser = express.urlencoded({ extended: false })

/** Opens each response to all, and reads the body of a request that asks for it. */
const middleware: RequestHandler = (request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Cache-Control', 'public')
  if ('x-parse' in request.headers) parser(request, response, next)
  else next()
}

/** The base URL of the routes. */
interface Host { url: string, events: PartnerSsoEvent[] }

const hosts: Record<string, (t: Test) => Promise<Host>> = {
  '@fastify/express': async (t) => await startApp(t, {
    async prepare (app) {
      await app.register(fastifyExpress)
      app.use(middleware)
    }
  }),
  'an Express app': async (t) => {
    const { app, events } = await startApp(t)
    const host = express().use(middleware).use('/partner/', (request, response) => app.routing(request, response))
    return { url: `${await httpServer(t, host)}/partner`, events }
  }
}

/** The contract, and the state after a login as it was sent: no library decodes or encodes it. */
async function keepsQuery (t: Test, url: string, state = 'a%252Fb%26client_id%3Dx%25%23%C3%A9'): Promise<void> {
  const at = wire(url)
  await keepsContract(t, at)
  const { redirect } = await at.authorize({ state: undefined }, null, {}, `&state=${state}`)
  t.match(redirect.get('return_to'), `&state=${state}`)
  const { headers } = await at.send(String(redirect.get('return_to')), { headers: { cookie: sessionOf('ada') } })
  t.match(headers.get('location'), `&state=${state}`)
}

for (const [name, start] of Object.entries(hosts)) {
  t.test(name, async (t) => {
    const { url, events } = await start(t)
    await keepsQuery(t, url)
    const response = await wire(url).token({ code: await wire(url).code() }, { 'x-parse': '1' })
    refuses(t, response, 400, 'invalid_request')
    t.match(events.at(-1), { type: 'request_rejected', reason: 'body_already_read' })
  })
}

t.test('rewriteUrl', async (t) => {
  const { url } = await startApp(t, {
    server: { rewriteUrl: ({ url = '' }) => unescape(url).replace(/^\/partner\//, '/') }
  })
  // @fastify/express refuses what decodeURI cannot read, before any route is asked.
  await keepsQuery(t, `${url}/partner`, '%E9%zz%2526')
})
