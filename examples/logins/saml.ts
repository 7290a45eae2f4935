// A login by SAML, with @node-saml/node-saml. The identity provider sends the user back by POST; OpenID Connect with
// response_mode=form_post does too.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js saml
// Set SAML_ENTRY_POINT, the URL of the provider, and SAML_CERT, its certificate in PEM. The entity ID of this app is
// http://localhost:3000, and its assertion consumer service http://localhost:3000/login/saml.
import { randomUUID } from 'node:crypto'
import formbody from '@fastify/formbody'
import { SAML, ValidateInResponseTo } from '@node-saml/node-saml'
import type { SamlConfig } from '@node-saml/node-saml'
import partnerSso from 'fastify-partner-sso'
import { homePage, refusedPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import { nextOf } from './next.ts'
import { beginLogin, endLogin } from './pending.ts'
import { addSessions, currentUser, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

/** What the login needs of a SAML library. */
export interface SamlProvider {
  /** The URL of the identity provider, with an AuthnRequest that has this ID. */
  requestUrl (id: string): Promise<string>
  /** Checks a SAMLResponse: its signature, audience and time. */
  verify (response: string): Promise<{ user: string, inResponseTo: string }>
}

/** @node-saml/node-saml takes the ID of a request from its constructor: each login has an instance of its own. */
export function nodeSaml (config: SamlConfig): SamlProvider {
  // The cookie of the login knows to which request a response belongs: the library need not remember each.
  const withId = (id: string): SAML =>
    new SAML({ ...config, generateUniqueId: () => id, validateInResponseTo: ValidateInResponseTo.never })
  return {
    requestUrl: async (id) => await withId(id).getAuthorizeUrlAsync('', undefined, {}),
    async verify (response) {
      const { profile } = await withId('').validatePostResponseAsync({ SAMLResponse: response })
      // A response that nobody asked for would log its reader in as the attacker.
      if (profile === null || !profile.inResponseTo) throw new Error('The response is to no request')
      return { user: profile.nameID, inResponseTo: String(profile.inResponseTo) }
    }
  }
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
    beginLogin(request, reply, { state, next })
    return reply.redirect(await provider.requestUrl(state))
  })

  app.post<{ Body: { SAMLResponse?: string } | undefined }>('/login/saml', async (request, reply) => {
    const verified = await provider.verify(request.body?.SAMLResponse ?? '').catch((error: unknown) => {
      request.log.warn(error)
    })
    if (!verified) return html(reply.code(403), refusedPage())
    // Browsers send no cookie with a POST from another site, so the login cannot be ended here. They send it with the
    // GET that follows.
    const secure = request.protocol === 'https'
    const attributes = { signed: true, httpOnly: true, sameSite: 'lax', secure, path: '/login', maxAge: 60 } as const
    return reply.setCookie('saml', `${verified.inResponseTo} ${verified.user}`, attributes).redirect('/login/done', 303)
  })

  app.get('/login/done', async (request, reply) => {
    const { value } = request.unsignCookie(request.cookies.saml ?? '')
    const [, inResponseTo, id] = /^(\S+) (.+)$/.exec(value ?? '') ?? []
    const login = endLogin(request, reply, inResponseTo)
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
