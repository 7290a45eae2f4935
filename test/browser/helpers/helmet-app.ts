// A partner's application as small as can be, behind @fastify/helmet.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import type { FastifyHelmetOptions } from '@fastify/helmet'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { loginPage, stylesheet } from '../../../examples/pages.ts'
import { portalRecord, users } from '../../../examples/users.ts'
import type { User } from '../../../examples/users.ts'
import partnerSso from '../../../lib/index.ts'
import type { Portal } from '../../../lib/index.ts'

export async function helmetApp (portal: Portal, options: FastifyHelmetOptions = {}): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(helmet, options)
  await app.register(cookie)
  await app.register(formbody)
  await app.register(partnerSso<User>, {
    portal,
    currentUser: ({ cookies: { session } }) => users.find(({ id }) => id === session),
    portalEligibility: portalRecord,
    loginPage: '/login'
  })
  app.get('/favicon.ico', (_request, reply) => reply.code(204).send())
  app.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet))
  app.get<{ Querystring: { return_to: string } }>('/login', ({ query }, reply) =>
    reply.type('text/html').send(loginPage(users, query.return_to, false)))
  app.post<{ Body: { user: string, return_to: string } }>('/login', ({ body }, reply) => {
    reply.setCookie('session', body.user, { path: '/', httpOnly: true, sameSite: 'lax' })
    return reply.redirect(body.return_to, 303)
  })
  return app
}
