// An app behind a proxy that removes a path: browsers ask for https://acme.example/partner/login, and the app sees
// /login. Fastify's `rewriteUrl` and a mounted Express app do the same.
import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { loginPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import { addSessions, currentUser, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

export const removedPathLogin: Login = async (app, { sso, secret }) => {
  await app.register(formbody)
  await addSessions(app, secret)
  await app.register(partnerSso<User>, {
    ...sso,
    currentUser,
    // The address of the login page as browsers see it.
    loginPage: '/partner/login'
  })

  /** Where a login leads, as browsers see it. `returnTo` knows the path that the app sees. */
  const afterLogin = (request: FastifyRequest, reply: FastifyReply): string => {
    const returnTo = app.partnerSso.returnTo(request, reply)
    return returnTo === null ? '/partner/' : `/partner${returnTo}`
  }

  app.get('/login', (request, reply) => html(reply, loginPage(request.originalUrl)))

  app.post<{ Body: { user?: string } | undefined }>('/login', { onRequest: sameOrigin }, async (request, reply) => {
    const user = userWith(request.body?.user)
    if (user === null) return html(reply.code(400), loginPage(request.originalUrl, true))
    await logIn(request, user)
    return reply.redirect(afterLogin(request, reply), 303)
  })
}
