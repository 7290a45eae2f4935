import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { setTimeout as wait } from 'node:timers/promises'
import { randomText } from '../../flow/requests.ts'
import { Attempt } from './attempt.ts'
import type { Settings } from './attempt.ts'
import { attemptPage } from './pages/attempt.ts'
import { homePage, nothingHerePage } from './pages/home.ts'
import { POLICY } from './pages/layout.ts'
import { START, TRIAL } from './trial.ts'

/** The cookie that identifies the browser that began an attempt. */
const SESSION = 'portal-session'
/** Attempts that are kept. */
const MOST = 100
/** Milliseconds that the callback waits for the end of a sign-in. Most have ended by then. */
const GLANCE = 1200

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY'
}

/** The web application that plays the portal. */
export async function simulator (settings: Settings) {
  const { integration, publicUrl } = settings
  const own = new URL(publicUrl)
  /** Newest first. */
  let attempts: Attempt[] = []
  const attemptsOf = ({ cookies }: FastifyRequest) =>
    attempts.filter(({ session }) => session === cookies[SESSION])

  const app: FastifyInstance = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true })
  await app.register(cookie)

  // One host name for all: localhost and 127.0.0.1 do not share cookies. A proxy may send another Host.
  app.addHook('onRequest', async ({ host, url }, reply) => {
    reply.headers(HEADERS)
    if (!settings.isBehindProxy && host !== own.host) return reply.redirect(own.origin + url)
  })

  app.get('/', async (request) => homePage(integration, attemptsOf(request)))

  app.get(START, async (request, reply) => {
    const session = attemptsOf(request)[0]?.session ?? randomText()
    const attempt = new Attempt(session, request.url === TRIAL.path, settings)
    attempts = [attempt, ...attempts].slice(0, MOST)
    reply.setCookie(SESSION, session, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: own.protocol === 'https:'
    })
    return reply.redirect(await attempt.begin())
  })

  const callback = new URL(integration.redirectUri)
  app.get(callback.pathname, async (request, reply) => {
    const url = new URL(request.url, callback)
    const state = url.searchParams.get('state')
    const all = attemptsOf(request)
    const attempt = all.find(({ signIn }) => signIn.state === state) ?? all[0]
    if (attempt === undefined) return reply.callNotFound()
    if (attempt.isAway) {
      await Promise.race([attempt.finish(url.href), wait(GLANCE, undefined, { ref: false })])
    }
    return reply.redirect(attempt.path)
  })

  app.get('/sign-ins/:id', async (request, reply) => {
    const all = attemptsOf(request)
    const attempt = all.find(({ path }) => path === request.url)
    return attempt === undefined ? reply.callNotFound() : attemptPage(attempt, all)
  })

  app.setNotFoundHandler(async (_request, reply) => {
    reply.code(404)
    return nothingHerePage(integration)
  })
  return app
}
