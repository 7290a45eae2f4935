// A login whose identity provider sends the user back by POST: SAML, or OpenID Connect with response_mode=form_post.
// `verify` is your SAML library: it checks the response and returns the identifier of the user.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import partnerSso from 'fastify-partner-sso'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import type { Login } from './settings.ts'

export const samlLogin = (loginUrl: string, verify: (response: string) => Promise<string>): Login =>
  async (app, sso, secret) => {
    await app.register(cookie, { secret })
    await app.register(formbody)
    await app.register(partnerSso<User>, {
      ...sso,
      currentUser: (request) => userWith(request.unsignCookie(request.cookies.session ?? '').value),
      loginPage: loginUrl
    })

    app.post<{ Body: { SAMLResponse: string } }>('/login/saml', async (request, reply) => {
      const user = await verify(request.body.SAMLResponse)
      reply.setCookie('session', user, { signed: true, httpOnly: true, sameSite: 'lax', path: '/' })
      // Browsers send no cookie with a POST from another site. They do with the GET that follows.
      return reply.redirect('/login/done', 303)
    })

    app.get('/login/done', (request, reply) => reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/'))
  }
