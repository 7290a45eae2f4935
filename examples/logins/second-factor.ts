// A login of two pages: a password, then a code from another device. Between the two pages the browser has a session,
// but nobody is logged in: `currentUser` returns null until the second page has been passed.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js second-factor
import { randomInt } from 'node:crypto'
import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { homePage, loginPage, secondFactorPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import { addSessions, currentUser, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

/** The second page that a user must pass. */
interface SecondFactor { userId: string, code: string, expires: number, attemptsLeft: number }

declare module 'fastify' {
  interface Session { secondFactor?: SecondFactor }
}

const LIFETIME = 5 * 60 * 1000
const ATTEMPTS = 5

export const secondFactorLogin: Login = async (app, { sso, secret, loginUrl }) => {
  await app.register(formbody)
  await addSessions(app, secret)
  await app.register(partnerSso<User>, {
    ...sso,
    // Reads `session.userId`, which the second page sets. If the first one set it, a password alone would get a code.
    currentUser,
    loginPage: '/login'
  })
  addPasswordPage(app)
  addCodePage(app)

  app.post('/logout', { onRequest: sameOrigin }, async (request, reply) => {
    await request.session.destroy()
    return reply.redirect('/', 303)
  })

  app.get('/', (request, reply) => html(reply, homePage(currentUser(request), loginUrl)))
}

function addPasswordPage (app: FastifyInstance): void {
  app.get<{ Querystring: { return_to?: string } }>('/login', (request, reply) => {
    // A login that the portal did not begin says so: it must not lead to a sign-in that was given up.
    if (request.query.return_to === undefined) return reply.redirect('/login?return_to=/')
    if (currentUser(request) !== null) return reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/')
    return html(reply, loginPage(request.originalUrl))
  })

  app.post<{ Body: { user?: string } | undefined }>('/login', { onRequest: sameOrigin }, async (request, reply) => {
    const user = userWith(request.body?.user)
    if (user === null) return html(reply.code(400), loginPage(request.originalUrl, true))
    await request.session.regenerate()
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    request.session.secondFactor = {
      userId: user.id, code, expires: Date.now() + LIFETIME, attemptsLeft: ATTEMPTS
    }
    // The next page needs the query: `return_to` is in it.
    return reply.redirect(`/second-factor${queryOf(request)}`, 303)
  })
}

function addCodePage (app: FastifyInstance): void {
  app.get('/second-factor', (request, reply) => {
    const pending = pendingOf(request)
    if (pending === undefined) return reply.redirect(`/login${queryOf(request)}`)
    return html(reply, secondFactorPage(pending.code))
  })

  app.post<{ Body: { code?: string } | undefined }>('/second-factor', { onRequest: sameOrigin },
    async (request, reply) => {
      const pending = pendingOf(request)
      const user = userWith(pending?.userId)
      if (pending === undefined || user === null) return reply.redirect(`/login${queryOf(request)}`, 303)
      if (request.body?.code !== pending.code) {
        request.session.secondFactor = { ...pending, attemptsLeft: pending.attemptsLeft - 1 }
        return html(reply.code(400), secondFactorPage(pending.code, true))
      }
      await logIn(request, user)
      return reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/', 303)
    })
}

/** The code that this browser is asked for. A guess is one in a million, five times. */
function pendingOf ({ session: { secondFactor } }: FastifyRequest): SecondFactor | undefined {
  if (secondFactor === undefined || secondFactor.attemptsLeft < 1) return undefined
  return secondFactor.expires > Date.now() ? secondFactor : undefined
}

function queryOf ({ originalUrl }: FastifyRequest): string {
  return /\?.*/.exec(originalUrl)?.[0] ?? ''
}
