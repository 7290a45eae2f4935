// A login page with a form, and sessions by @fastify/session.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js form
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import session from '@fastify/session'
import partnerSso from 'fastify-partner-sso'
import { loginPage } from '../pages.ts'
import { users, userWith } from '../users.ts'
import type { User } from '../users.ts'
import type { Login } from './settings.ts'

export const formLogin: Login = async (app, sso, secret) => {
  await app.register(cookie)
  await app.register(formbody)
  await app.register(session, { secret, saveUninitialized: false, cookie: { sameSite: 'lax', secure: 'auto' } })
  await app.register(partnerSso<User>, {
    ...sso,
    currentUser: ({ session }) => userWith(session.userId),
    loginPage: '/login'
  })

  app.get('/login', (_request, reply) => reply.type('text/html').send(loginPage(users)))

  app.post<{ Body: { user: string } }>('/login', async (request, reply) => {
    await request.session.regenerate()
    request.session.userId = request.body.user
    return reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/', 303)
  })
}
