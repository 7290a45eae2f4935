// A login by OpenID Connect, with openid-client and sessions by @fastify/session.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js federated
// Set OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET. The redirect URI is http://localhost:3000/login/callback.
import cookie from '@fastify/cookie'
import session from '@fastify/session'
import partnerSso from 'fastify-partner-sso'
import * as openid from 'openid-client'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import type { Login } from './settings.ts'

/** `callback` is the redirect URI of this app at the identity provider. */
export const federatedLogin = (provider: openid.Configuration, callback: string): Login =>
  async (app, sso, secret) => {
    await app.register(cookie)
    await app.register(session, { secret, saveUninitialized: false, cookie: { sameSite: 'lax', secure: 'auto' } })
    await app.register(partnerSso<User>, {
      ...sso,
      currentUser: ({ session }) => userWith(session.userId),
      loginPage: '/login'
    })

    app.get('/login', async (request, reply) => {
      request.session.verifier = openid.randomPKCECodeVerifier()
      const challenge = await openid.calculatePKCECodeChallenge(request.session.verifier)
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
      const parameters = { redirect_uri: callback, scope: 'openid', ...pkce }
      return reply.redirect(openid.buildAuthorizationUrl(provider, parameters).href)
    })

    app.get('/login/callback', async (request, reply) => {
      const checks = { pkceCodeVerifier: request.session.verifier as string }
      const tokens = await openid.authorizationCodeGrant(provider, new URL(request.originalUrl, callback), checks)
      await request.session.regenerate()
      request.session.userId = tokens.claims()?.sub as string
      return reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/')
    })
  }
