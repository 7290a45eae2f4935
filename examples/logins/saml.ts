// A login whose identity provider sends the user back by POST: SAML, or OpenID Connect with response_mode=form_post.
import { randomUUID } from 'node:crypto'
import formbody from '@fastify/formbody'
import partnerSso from 'fastify-partner-sso'
import { homePage, refusedPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import { nextOf } from './next.ts'
import { addSessions, beginLogin, currentUser, endLogin, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

/** What your SAML library does. */
export interface SamlProvider {
  /** The URL of the identity provider, with an AuthnRequest that has this ID. */
  requestUrl (id: string): Promise<string>
  /** Checks a SAMLResponse: signature, audience, time. */
  verify (response: string): Promise<{ user: string, inResponseTo: string }>
}

export const samlLogin = (provider: SamlProvider): Login => async (app, { sso, secret, loginUrl }) => {
  await app.register(formbody)
  await addSessions(app, secret)
  await app.register(partnerSso<User>, {
    ...sso,
    currentUser,
    loginPage: (returnTo) => `/login?next=${encodeURIComponent(returnTo)}`
  })

  app.get('/login', async (request, reply) => {
    const next = nextOf(request)
    if (currentUser(request) !== null) return reply.redirect(next)
    const state = `_${randomUUID()}`
    beginLogin(request, { state, next })
    return reply.redirect(await provider.requestUrl(state))
  })

  app.post<{ Body: { SAMLResponse: string } }>('/login/saml', async (request, reply) => {
    const verified = await provider.verify(request.body.SAMLResponse).catch((error: unknown) => {
      request.log.warn(error)
    })
    if (!verified) return html(reply.code(403), refusedPage())
    // Browsers send no cookie with a POST from another site, so the session cannot be asked here. They do with the GET
    // that follows.
    const secure = request.protocol === 'https'
    const attributes = { signed: true, httpOnly: true, sameSite: 'lax', secure, path: '/login', maxAge: 60 } as const
    return reply.setCookie('saml', `${verified.inResponseTo} ${verified.user}`, attributes).redirect('/login/done', 303)
  })

  app.get('/login/done', async (request, reply) => {
    const { value } = request.unsignCookie(request.cookies.saml ?? '')
    const [, inResponseTo, id] = /^(\S+) (.+)$/.exec(value ?? '') ?? []
    const login = endLogin(request, inResponseTo)
    const user = userWith(id)
    reply.clearCookie('saml', { path: '/login' })
    if (login === undefined || user === null) return html(reply.code(403), refusedPage())
    await logIn(request, user)
    return reply.redirect(login.next)
  })

  app.post('/logout', { onRequest: sameOrigin }, async (request, reply) => {
    await request.session.destroy()
    return reply.redirect('/', 303)
  })

  app.get('/', (request, reply) => html(reply, homePage(currentUser(request), loginUrl)))
}
