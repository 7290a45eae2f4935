import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Portal } from 'fastify-partner-sso'
import { startPage, stylesheet } from '../pages.ts'
import { portalRecord } from '../users.ts'
import type { Login } from './settings.ts'

/** An app with one of the logins, and a page that leads to the portal. */
export async function loginApp (
  login: Login, portal: Portal, logger: FastifyServerOptions['logger'] = true
): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({ logger })
  app.get('/style.css', (_request, reply) => reply.type('text/css').send(stylesheet))
  app.get('/', (_request, reply) => reply.type('text/html').send(startPage(portal.loginUrl)))
  // A new secret at each start: everybody has to log in again.
  await login(app, { portal, portalEligibility: portalRecord }, randomBytes(32).toString('hex'))
  return app
}
