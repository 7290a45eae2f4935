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

export interface SimulatorOptions {
  portal: Integration
  /** Where a sign-in starts. Its origin is the simulator’s own. */
  loginUrl: string
  /** Seconds. */
  codeLifetime: number
}

const SESSION = 'portal-session'
/** Most sign-ins are over by then; the others are shown as they go on. */
const GLANCE = 1200
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY'
}

/** The web application that plays the portal. */
export async function simulator (options: SimulatorOptions): Promise<FastifyInstance> {
  const { portal, loginUrl, codeLifetime } = options
  const start = new URL(loginUrl)
  const attempts = new Attempts()
  const stop = new AbortController()
  const app: FastifyInstance = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  await app.register(cookie)
  app.addHook('onClose', async () => { stop.abort() })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    if (!ownHost(String(request.headers.host), options)) return reply.code(421).type('text/plain').send('This is the portal simulator; it does not answer under this name.')
    return undefined
  })
  app.setNotFoundHandler((_request, reply) => page(reply.code(404), messagePage(options, 'There is nothing here', 'The simulator has a start page, and a page for each sign-in until it stops.')))

  app.get('/', async (_request, reply) => page(reply, homePage(options, attempts.latest())))

  app.get<{ Querystring: { trial?: string } }>(start.pathname, async (request, reply) => {
    if (request.headers.host !== start.host) return reply.redirect(new URL(request.url, start).href, 302)
    const attempt = new Attempt({ portal, codeLifetime, trial: TRIALS.find(({ id }) => id === request.query.trial) ?? null, stop: stop.signal })
    const session = attempts.keep(attempt, request.cookies[SESSION])
    const url = await attempt.begin()
    reply.setCookie(SESSION, session, { path: '/', httpOnly: true, sameSite: 'lax', secure: start.protocol === 'https:' })
    return reply.redirect(url ?? `/sign-ins/${attempt.id}`, url === null ? 303 : 302)
  })

  app.get<{ Querystring: { state?: unknown } }>(new URL(portal.redirectUri).pathname, async (request, reply) => {
    const attempt = attempts.ofSession(request.cookies[SESSION], request.query.state)
    if (attempt === undefined) return page(reply.code(400), messagePage(options, 'No sign-in is under way in this browser', 'The browser came back to the portal without a session that started a sign-in here. Start again, and keep to one host name: localhost and 127.0.0.1 do not share cookies.'))
    if (!attempt.ended) await Promise.race([returned(attempt, request, portal), wait(GLANCE, undefined, { ref: false })])
    return reply.redirect(`/sign-ins/${attempt.id}`, 303)
  })

  app.get<{ Params: { id: string }, Querystring: { secrets?: string } }>('/sign-ins/:id', async (request, reply) => {
    const attempt = attempts.find(request.params.id)
    if (attempt === undefined) return page(reply.code(404), messagePage(options, 'This sign-in is no longer here', 'The simulator keeps the last fifty until it stops.'))
    return page(reply, attemptPage(options, attempt, request.query.secrets === 'shown'))
  })
  return app
}

const page = (reply: FastifyReply, text: string): FastifyReply => reply.type('text/html; charset=utf-8').send(text)

async function returned (attempt: Attempt, { url }: Pick<FastifyRequest, 'url'>, { redirectUri }: Integration): Promise<void> {
  await attempt.finish(new URL(url, redirectUri).href)
}

/** Keeps out pages of other sites whose name was made to point here (DNS rebinding): they could read what is shown. */
function ownHost (host: string, { portal, loginUrl }: SimulatorOptions): boolean {
  return LOOPBACK.test(host) || host === new URL(loginUrl).host || host === new URL(portal.redirectUri).host
}
