import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { setTimeout as wait } from 'node:timers/promises'
import { Attempt } from './attempt.ts'
import { Attempts } from './attempts.ts'
import { summaryOf } from './conclusion.ts'
import { attemptPage } from './pages/attempt.ts'
import { homePage } from './pages/home.ts'
import { layout, POLICY, startPath } from './pages/layout.ts'
import type { Setup } from './pages/layout.ts'
import { TRIALS } from './trials.ts'

export interface SimulatorOptions extends Setup {
  /** Seconds that a code is valid at the service. */
  codeLifetime: number
  /** Called with a line for the terminal when a sign-in or a trial has ended. */
  ended: (line: string) => void
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
  Querystring: { trial?: string, login?: string, state?: unknown }
}

/** The web application that plays the portal. */
export async function simulator (options: SimulatorOptions): Promise<FastifyInstance> {
  const attempts = new Attempts()
  const app: FastifyInstance = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  await app.register(cookie)
  app.addHook('onRequest', (request, reply) => requireOwnHost(request, reply, options))
  app.setNotFoundHandler((_request, reply) => {
    const sentence =
      'Each browser sees the sign-ins that it began, among the last hundred, until the simulator ' +
      'stops.'
    return page(reply.code(404), messagePage(options, 'There is nothing here', sentence))
  })
  addFlow(app, options, attempts)
  addPages(app, options, attempts)
  return app
}

/** The path for the router: decoded, with `::` for a colon. */
const routeOf = ({ pathname }: URL): string => decodeURIComponent(pathname).replaceAll(':', '::')

/** The two routes of the portal: where a sign-in starts, and the callback. */
function addFlow (app: FastifyInstance, options: SimulatorOptions, attempts: Attempts): void {
  const { integration, loginUrl, codeLifetime, ended } = options
  const [start, callback] = [new URL(loginUrl), new URL(integration.redirectUri)]
  const stop = new AbortController()
  app.addHook('onClose', async () => { stop.abort(new Error('The simulator was stopped.')) })

  app.get<Route>(routeOf(start), { onRequest: refuseEmbedded }, async (request, reply) => {
    const trial = TRIALS.find(({ id }) => id === request.query.trial) ?? null
    const attempt = new Attempt({ integration, codeLifetime, trial, stop: stop.signal })
    const session = attempts.add(attempt, request.cookies[SESSION])
    const url = await attempt.begin(request.query.login !== undefined)
    if (url === null) ended(summaryOf(attempt))
    const secure = start.protocol === 'https:'
    reply.setCookie(SESSION, session, { path: '/', httpOnly: true, sameSite: 'lax', secure })
    return reply.redirect(url ?? `/sign-ins/${attempt.id}`, url === null ? 303 : 302)
  })

  app.get<Route>(routeOf(callback), { onRequest: refuseEmbedded }, async (request, reply) => {
    const attempt = attempts.returned(request.cookies[SESSION], request.query.state)
    if (attempt === undefined) {
      const title = 'This browser has no sign-in in progress'
      const sentence =
        'The browser came back to the portal without the session that started a sign-in here. ' +
        'Start again, and stay on one host name: localhost and 127.0.0.1 do not share cookies.'
      return page(reply.code(400), messagePage(options, title, sentence))
    }
    if (!attempt.cameBack) {
      const finished = attempt.finish(new URL(request.url, callback).href)
        .then(() => ended(summaryOf(attempt)))
      await Promise.race([finished, wait(GLANCE, undefined, { ref: false })])
    }
    return reply.redirect(`/sign-ins/${attempt.id}`, 303)
  })
}

/**
 * Refuses requests for an image, a frame or a script (Sec-Fetch-Dest). A request without that
 * header is served.
 */
async function refuseEmbedded ({ headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  if ((headers['sec-fetch-dest'] ?? 'document') === 'document') return undefined
  return reply.code(403).type('text/plain')
    .send('A sign-in is a page of its own: another page cannot embed it.')
}

/** What a browser sees: the start page, and its own sign-ins. */
function addPages (app: FastifyInstance, options: SimulatorOptions, attempts: Attempts): void {
  app.get('/', async (request, reply) =>
    page(reply, homePage(options, attempts.of(request.cookies[SESSION]))))

  app.get<Route>('/sign-ins/:id', async (request, reply) => {
    const attempt = attempts.find(request.cookies[SESSION], request.params.id)
    if (attempt === undefined) return reply.callNotFound()
    return page(reply, await attemptPage(options, attempt, attempts.of(request.cookies[SESSION])))
  })
}

/** A page with a sentence, where there is no attempt to show. */
const messagePage = (setup: Setup, title: string, sentence: string): string =>
  layout(setup, { title, sentence, buttons: { 'Sign in': startPath(setup), 'Start page': '/' } })

const page = (reply: FastifyReply, text: string): FastifyReply =>
  reply.type('text/html; charset=utf-8').send(text)

/**
 * Refuses host names of others that resolve to this machine (DNS rebinding), and redirects browsers
 * to one host name: localhost and 127.0.0.1 do not share cookies.
 */
async function requireOwnHost (
  request: FastifyRequest, reply: FastifyReply, options: SimulatorOptions
): Promise<unknown> {
  const host = String(request.headers.host)
  const [start, callback] = [new URL(options.loginUrl), new URL(options.integration.redirectUri)]
  reply.headers(HEADERS)
  if (!LOOPBACK.test(host) && host !== start.host && host !== callback.host) {
    const text =
      'The portal simulator does not respond under this host name. Name it with --public-url.'
    return reply.code(421).type('text/plain').send(text)
  }
  const path = request.url.split('?')[0] as string
  const moves = host !== start.host && path.startsWith('/') && path !== callback.pathname
  return moves && (LOOPBACK.test(start.host) || path === start.pathname)
    ? reply.redirect(start.origin + request.url, 302)
    : undefined
}
