// A login page with a form, and sessions by @fastify/session.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js form
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { homePage, loginPage, registerPage } from '../pages.ts'
import { addUser, userWith } from '../users.ts'
import type { User } from '../users.ts'
import { addSessions, currentUser, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

export const formLogin: Login = async (app, { sso, secret, loginUrl }) => {
  await addSessions(app, secret)
  await app.register(partnerSso<User>, { ...sso, currentUser, loginPage: '/login' })
  await addForms(app, loginUrl)
}

export async function addForms (app: FastifyInstance, loginUrl: string): Promise<void> {
  await app.register(formbody)

  app.get<{ Querystring: { return_to?: string } }>('/login', (request, reply) => {
    // A login that the portal did not begin says so: it must not lead to a sign-in that was given up.
    if (request.query.return_to === undefined) return reply.redirect('login?return_to=/')
    if (currentUser(request) !== null) return reply.redirect(app.partnerSso.returnTo(request, reply) ?? './')
    return html(reply, loginPage(request.originalUrl))
  })

  app.post<{ Body: { user?: string } | undefined }>('/login', { onRequest: sameOrigin }, async (request, reply) => {
    // Your app asks for a password, or the like.
    const user = userWith(request.body?.user)
    if (user === null) return html(reply.code(400), loginPage(request.originalUrl, true))
    await logIn(request, user)
    return reply.redirect(app.partnerSso.returnTo(request, reply) ?? './', 303)
  })

  app.post<{ Body: { name?: string } | undefined }>('/register', { onRequest: sameOrigin }, async (request, reply) => {
    await logIn(request, addUser(request.body?.name ?? ''))
    return reply.redirect(app.partnerSso.returnTo(request, reply) ?? './', 303)
  })

  app.post('/logout', { onRequest: sameOrigin }, async (request, reply) => {
    await request.session.destroy()
    return reply.redirect('./', 303)
  })

  app.get('/register', (_request, reply) => html(reply, registerPage()))
  app.get('/', (request, reply) => html(reply, homePage(currentUser(request), loginUrl)))
}
