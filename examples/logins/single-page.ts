// A single-page client with an API for the login, and a signed session cookie.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js single-page
import cookie from '@fastify/cookie'
import partnerSso from 'fastify-partner-sso'
import { clientPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import type { Login } from './settings.ts'

/** What the client does when its user has chosen a name. */
const script = `
  async function logIn (user) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/api/login', { method: 'POST', headers, body: JSON.stringify({ user }) })
    const { returnTo } = await response.json()
    // Not by the router of the client: the authorization endpoint is a page of the server.
    location.assign(returnTo ?? '/')
  }`

export const singlePageLogin: Login = async (app, sso, secret) => {
  await app.register(cookie, { secret })
  await app.register(partnerSso<User>, {
    ...sso,
    currentUser: (request) => userWith(request.unsignCookie(request.cookies.session ?? '').value),
    loginPage: '/app/login'
  })

  app.get('/app/*', (_request, reply) => reply.type('text/html').send(clientPage(script)))

  app.post<{ Body: { user: string } }>('/api/login', (request, reply) => {
    reply.setCookie('session', request.body.user, { signed: true, httpOnly: true, sameSite: 'lax', path: '/' })
    return reply.send({ returnTo: app.partnerSso.returnTo(request, reply) })
  })
}
