// An API whose client sends bearer tokens, and no cookie. A browser that comes from the portal has no token: the client
// exchanges its token for a cookie that only the authorization endpoint gets.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js bearer
import cookie from '@fastify/cookie'
import partnerSso from 'fastify-partner-sso'
import { jwtVerify, SignJWT } from 'jose'
import { clientPage } from '../pages.ts'
import { userWith } from '../users.ts'
import type { User } from '../users.ts'
import type { Login } from './settings.ts'

/** What the client does on the page /enter, after a login if it has no token. */
const script = `
  async function logIn (user) {
    const headers = { 'content-type': 'application/json' }
    const login = await fetch('/api/login', { method: 'POST', headers, body: JSON.stringify({ user }) })
    await enter((await login.json()).token)
  }
  async function enter (token) {
    const headers = { authorization: 'Bearer ' + token }
    const response = await fetch('/api/portal-session', { method: 'POST', headers })
    location.assign((await response.json()).returnTo)
  }`

export const bearerLogin: Login = async (app, sso, secret) => {
  const key = new TextEncoder().encode(secret)
  const userOf = async (token = ''): Promise<User | null> => {
    const verified = await jwtVerify(token, key, { algorithms: ['HS256'] }).catch(() => null)
    return userWith(verified?.payload.sub)
  }
  await app.register(cookie)
  await app.register(partnerSso<User>, {
    ...sso,
    currentUser: (request) => userOf(request.cookies.portal_session),
    loginPage: '/enter'
  })

  app.post('/api/portal-session', async (request, reply) => {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    if (await userOf(token) === null) return reply.code(401).send({ error: 'invalid_token' })
    const secure = request.protocol === 'https'
    reply.setCookie('portal_session', token, { httpOnly: true, sameSite: 'lax', secure, path: '/oauth', maxAge: 600 })
    return { returnTo: app.partnerSso.returnTo(request, reply) ?? '/' }
  })

  // What the API has already.
  app.get('/enter', (_request, reply) => reply.type('text/html').send(clientPage(script)))
  app.post<{ Body: { user: string } }>('/api/login', async ({ body: { user } }) => ({
    token: await new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(user).setExpirationTime('1h').sign(key)
  }))
}
