// An app whose session cookie has a Path. The option `prefix` moves the plugin's routes below it.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js cookie-path
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import partnerSso from 'fastify-partner-sso'
import { loginPage } from '../pages.ts'
import { users, userWith } from '../users.ts'
import type { User } from '../users.ts'
import type { Login } from './settings.ts'

export const cookiePathLogin: Login = async (app, sso, secret) => {
  await app.register(cookie, { secret })
  await app.register(formbody)
  await app.register(partnerSso<User>, {
    ...sso,
    // The Authorization URL is now https://your-app.example/app/oauth/authorize.
    prefix: '/app',
    currentUser: (request) => userWith(request.unsignCookie(request.cookies.session ?? '').value),
    loginPage: '/app/login'
  })

  app.get('/app/login', (_request, reply) => reply.type('text/html').send(loginPage(users)))

  app.post<{ Body: { user: string } }>('/app/login', (request, reply) => reply
    .setCookie('session', request.body.user, { signed: true, httpOnly: true, sameSite: 'lax', path: '/app' })
    .redirect(app.partnerSso.returnTo(request, reply) ?? '/', 303))
}
