import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { setTimeout as wait } from 'node:timers/promises'
import type { Integration } from '../../flow/integration.ts'
import { Attempt } from './attempt.ts'
import { Attempts } from './attempts.ts'
import { attemptPage } from './pages/attempt.ts'
import { homePage } from './pages/home.ts'
import { layout, POLICY, START } from './pages/layout.ts'
import { TRIALS } from './trials.ts'

export interface SimulatorOptions {
  integration: Integration
  /** The origin at which browsers reach the simulator. */
  publicUrl: string
  /** Seconds that a code is valid at the service. */
  codeLifetime: number
}

const SESSION = 'portal-session'
/** Milliseconds that the callback waits for the end of a sign-in. Most have ended by then. */
const GLANCE = 1200
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY'
}

interface Route {
  Params: { id: string }
  Querystring: { trial?: string, state?: unknown }
}

/** The web application that plays the portal. */
export async function simulator (options: SimulatorOptions): Promise<FastifyInstance> {
  const attempts = new Attempts()
  const app: FastifyInstance = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  await app.register(cookie)
  app.addHook('onRequest', (request, reply) => requireOwnHost(request, reply, options))
  addFlow(app, options, attempts)
  addPages(app, options.integration, attempts)
  return app
}

/** The two routes of the portal: where a sign-in starts, and the callback. */
function addFlow (app: FastifyInstance, options: SimulatorOptions, attempts: Attempts): void {
  const { integration, publicUrl, codeLifetime } = options
  const callback = new URL(integration.redirectUri)
  const secure = publicUrl.startsWith('https:')
  const stop = new AbortController()
  app.addHook('onClose', async () => { stop.abort(new Error('The simulator was stopped.')) })

  app.get<Route>(START, async (request, reply) => {
    const trial = TRIALS.find(({ id }) => id === request.query.trial) ?? null
    const attempt = new Attempt({ integration, codeLifetime, trial, stop: stop.signal })
    const session = attempts.add(attempt, request.cookies[SESSION])
    reply.setCookie(SESSION, session, { path: '/', httpOnly: true, sameSite: 'lax', secure })
    const url = await attempt.begin()
    if (url !== null) return reply.redirect(url, 302)
    return reply.redirect(`/sign-ins/${attempt.id}`, 303)
  })

  app.get<Route>(callback.pathname, async (request, reply) => {
    const attempt = attempts.returned(request.cookies[SESSION], request.query.state)
    if (attempt === undefined) return page(reply.code(400), messagePage(integration, ...NO_SESSION))
    if (!attempt.cameBack) {
      const finished = attempt.finish(new URL(request.url, callback).href)
      await Promise.race([finished, wait(GLANCE, undefined, { ref: false })])
    }
    return reply.redirect(`/sign-ins/${attempt.id}`, 303)
  })
}

/** What a browser sees: the start page, and its own sign-ins. */
function addPages (app: FastifyInstance, integration: Integration, attempts: Attempts): void {
  app.get('/', async (request, reply) =>
    page(reply, homePage(integration, attempts.of(request.cookies[SESSION]))))

  app.get<Route>('/sign-ins/:id', async (request, reply) => {
    const own = attempts.of(request.cookies[SESSION])
    const attempt = own.find(({ id }) => id === request.params.id)
    if (attempt === undefined) return reply.callNotFound()
    return page(reply, await attemptPage(integration, attempt, own))
  })

  app.setNotFoundHandler((_request, reply) =>
    page(reply.code(404), messagePage(integration, ...NOTHING_HERE)))
}

type Message = [title: string, sentence: string]

const NO_SESSION: Message = [
  'This browser has no sign-in in progress',
  'The browser came back to the portal without the session that started a sign-in here. ' +
  'Start again, and stay on one host name: localhost and 127.0.0.1 do not share cookies.'
]

const NOTHING_HERE: Message = [
  'There is nothing here',
  'Each browser sees the sign-ins that it began, among the last hundred, until the simulator stops.'
]

/** A page with a sentence, where there is no attempt to show. */
const messagePage = (integration: Integration, title: string, sentence: string): string =>
  layout(integration, { title, sentence, buttons: { 'Sign in': START, 'Start page': '/' } })

const page = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('text/html; charset=utf-8').send(text)

/**
 * Refuses host names of others that resolve to this machine (DNS rebinding), and redirects browsers
 * to one host name: localhost and 127.0.0.1 do not share cookies.
 */
async function requireOwnHost (
  request: FastifyRequest, reply: FastifyReply, { publicUrl, integration }: SimulatorOptions
): Promise<unknown> {
  const host = String(request.headers.host)
  const [own, callback] = [new URL(publicUrl), new URL(integration.redirectUri)]
  reply.headers(HEADERS)
  if (!LOOPBACK.test(host) && host !== own.host && host !== callback.host) {
    const text =
      'The portal simulator does not respond under this host name. Name it with --public-url.'
    return reply.code(421).type('text/plain').send(text)
  }
  const [path = ''] = request.url.split('?')
  const moves = host !== own.host && path.startsWith('/') && path !== callback.pathname
  if (!moves || !(LOOPBACK.test(own.host) || path === START)) return undefined
  return reply.redirect(own.origin + request.url, 302)
}
