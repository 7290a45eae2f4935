// A login by OpenID Connect, with openid-client and sessions by @fastify/session.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js federated
// Set OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET. The redirect URI is http://localhost:3000/login/callback; after
// the logout it is http://localhost:3000/.
import formbody from '@fastify/formbody'
import partnerSso from 'fastify-partner-sso'
import * as openid from 'openid-client'
import { homePage, refusedPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import { nextOf } from './next.ts'
import { beginLogin, endLogin } from './pending.ts'
import { addSessions, currentUser, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

declare module 'fastify' {
  interface Session { idToken?: string | undefined }
}

/** `callback` is the redirect URI of this app at the identity provider. */
export const federatedLogin = (provider: openid.Configuration, callback: string): Login =>
  async (app, { sso, secret, loginUrl }) => {
    // For the form of the logout.
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
      const [state, nonce, verifier] = [openid.randomState(), openid.randomNonce(), openid.randomPKCECodeVerifier()]
      beginLogin(request, reply, { state, next, nonce, verifier })
      return reply.redirect(openid.buildAuthorizationUrl(provider, {
        redirect_uri: callback,
        scope: 'openid',
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256'
      }).href)
    })

    app.get<{ Querystring: { state?: string } }>('/login/callback', async (request, reply) => {
      const login = endLogin(request, reply, request.query.state)
      if (login === undefined) return html(reply.code(403), refusedPage())
      const { state, nonce = '', verifier = '' } = login
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
      const url = new URL(request.originalUrl, callback)
      const tokens = await openid.authorizationCodeGrant(provider, url, checks).catch((error: unknown) => {
        request.log.warn(error)
      })
      const user = userWith(tokens?.claims()?.sub)
      if (user === null) return html(reply.code(403), refusedPage())
      await logIn(request, user)
      request.session.idToken = tokens?.id_token
      return reply.redirect(login.next)
    })

    app.post('/logout', { onRequest: sameOrigin }, async (request, reply) => {
      const { idToken = '' } = request.session
      await request.session.destroy()
      // At the provider too, which would let the next user of this browser in as the last one.
      const parameters = { id_token_hint: idToken, post_logout_redirect_uri: new URL('/', callback).href }
      return reply.redirect(openid.buildEndSessionUrl(provider, parameters).href, 303)
    })

    app.get('/', (request, reply) => html(reply, homePage(currentUser(request), loginUrl)))
  }
