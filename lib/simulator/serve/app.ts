import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { setTimeout as wait } from 'node:timers/promises'
import { type Integration } from '../../testing/settings.ts'
import { Attempt } from './attempt.ts'
import { Attempts } from './attempts.ts'
import { attemptPage, messagePage } from './pages/attempt.ts'
import { homePage } from './pages/home.ts'
import { POLICY } from './pages/layout.ts'
import { TRIALS } from './trials.ts'
import { viewOf } from './view.ts'

export interface SimulatorOptions {
  portal: Integration
  /** Where a sign-in starts. Its origin is the simulator's own. */
  loginUrl: string
  /** Seconds that a code is valid at the service. */
  codeLifetime: number
  /** Monotonic time in milliseconds. Default: `performance.now`. */
  clock?: () => number
}

const SESSION = 'portal-session'
/** Most sign-ins have ended by then, in milliseconds; the page of the others follows them. */
const GLANCE = 1200
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY'
}

/**
 * For a page of the service: it may look as it does there, and nothing else. Scripts, forms, popups and every request
 * are blocked, also where the page is opened outside of the frame.
 */
const SERVICE_PAGE_HEADERS = {
  ...HEADERS,
  'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'X-Frame-Options': 'SAMEORIGIN'
}

interface Id { Params: { id: string } }

/** The web application that plays the portal. */
export async function simulator (options: SimulatorOptions): Promise<FastifyInstance> {
  const attempts = new Attempts()
  const app: FastifyInstance = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  await app.register(cookie)
  app.addHook('onRequest', (request, reply) => ownName(request, reply, options))
  app.setNotFoundHandler((_request, reply) => {
    const sentence = 'The simulator has a start page, and a page for each of your sign-ins until it stops.'
    return page(reply.code(404), messagePage(options, 'There is nothing here', sentence))
  })
  addFlow(app, options, attempts)
  addPages(app, options, attempts)
  return app
}

/** The two ends of the browser's part: where a sign-in starts, and where the browser comes back. */
function addFlow (app: FastifyInstance, options: SimulatorOptions, attempts: Attempts): void {
  const { portal, loginUrl, codeLifetime, clock = () => performance.now() } = options
  const start = new URL(loginUrl)
  const stop = new AbortController()
  app.addHook('onClose', async () => { stop.abort() })

  app.get<{ Querystring: { trial?: string } }>(start.pathname, async (request, reply) => {
    const trial = TRIALS.find(({ id }) => id === request.query.trial) ?? null
    const attempt = new Attempt({ portal, codeLifetime, clock, trial, stop: stop.signal })
    const session = attempts.add(attempt, request.cookies[SESSION])
    const url = await attempt.begin()
    const secure = start.protocol === 'https:'
    reply.setCookie(SESSION, session, { path: '/', httpOnly: true, sameSite: 'lax', secure })
    return reply.redirect(url ?? `/sign-ins/${attempt.id}`, url === null ? 303 : 302)
  })

  const callback = new URL(portal.redirectUri)
  app.get<{ Querystring: { state?: unknown } }>(callback.pathname, async (request, reply) => {
    const attempt = attempts.returned(request.cookies[SESSION], request.query.state)
    if (attempt === undefined) {
      const title = 'This browser has no sign-in in progress'
      const sentence = 'The browser came back to the portal without the session that started a sign-in here. ' +
        'Start again, and stay on one host name: localhost and 127.0.0.1 do not share cookies.'
      return page(reply.code(400), messagePage(options, title, sentence))
    }
    const finished = attempt.finish(new URL(request.url, callback).href)
    await Promise.race([finished, wait(GLANCE, undefined, { ref: false })])
    return reply.redirect(`/sign-ins/${attempt.id}`, 303)
  })
}

/** What a browser sees: the start page, and its own sign-ins. */
function addPages (app: FastifyInstance, options: SimulatorOptions, attempts: Attempts): void {
  const { portal } = options
  const gone = (reply: FastifyReply): FastifyReply => {
    const sentence = 'Each browser sees the sign-ins that it began, the last fifty of them, until the simulator stops.'
    return page(reply.code(404), messagePage(options, 'This browser has no such sign-in', sentence))
  }

  app.get('/', async (request, reply) => {
    const own = attempts.of(request.cookies[SESSION])
    return page(reply, homePage(options, await Promise.all(own.map((attempt) => viewOf(portal, attempt, false)))))
  })

  app.get<Id & { Querystring: { secrets?: string } }>('/sign-ins/:id', async (request, reply) => {
    const attempt = attempts.find(request.cookies[SESSION], request.params.id)
    if (attempt === undefined) return gone(reply)
    const shown = request.query.secrets === 'shown'
    return page(reply, attemptPage(options, await viewOf(portal, attempt, shown), shown))
  })

  app.get<Id>('/sign-ins/:id/service-page', async (request, reply) => {
    const attempt = attempts.find(request.cookies[SESSION], request.params.id)
    const servicePage = attempt === undefined ? null : (await viewOf(portal, attempt, false)).servicePage
    return servicePage === null ? gone(reply) : page(reply.headers(SERVICE_PAGE_HEADERS), servicePage.body)
  })
}

const page = (reply: FastifyReply, text: string): FastifyReply => reply.type('text/html; charset=utf-8').send(text)

/**
 * Keeps out sites whose name was made to point here (DNS rebinding), and brings browsers to one host name: localhost
 * and 127.0.0.1 do not share cookies.
 */
async function ownName (request: FastifyRequest, reply: FastifyReply, options: SimulatorOptions): Promise<unknown> {
  const host = String(request.headers.host)
  const [start, callback] = [new URL(options.loginUrl), new URL(options.portal.redirectUri)]
  reply.headers(HEADERS)
  if (!LOOPBACK.test(host) && host !== start.host && host !== callback.host) {
    const text = 'The portal simulator does not answer under this host name. Name it with --public-url.'
    return reply.code(421).type('text/plain').send(text)
  }
  const path = request.url.split('?')[0] as string
  const moves = host !== start.host && path.startsWith('/') && path !== callback.pathname
  return moves && (LOOPBACK.test(start.host) || path === start.pathname)
    ? reply.redirect(start.origin + request.url, 302)
    : undefined
}
