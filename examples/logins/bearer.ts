// An API whose client sends bearer tokens, and no cookie. A browser that comes from the portal has no token: the client
// exchanges its token for a cookie that serves one sign-in.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js bearer
import cookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { jwtVerify, SignJWT } from 'jose'
import { clientHomePage, clientPage } from '../pages.ts'
import { addUser, userWith } from '../users.ts'
import type { User } from '../users.ts'
import { html } from './sessions.ts'
import type { Login } from './settings.ts'

/** The client at / and /enter. */
const script = `
  // A login that the portal did not begin says so: it must not lead to a sign-in that was given up.
  const query = new URLSearchParams(location.search).has('return_to') ? location.search : '?return_to=/'

  const call = (method, path, body) => fetch('/api/' + path + query, {
    method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + localStorage.token },
    body: JSON.stringify(body)
  })

  /** Goes on with the token. One that has expired is dropped, and its user logs in again. */
  async function enter () {
    const response = await call('POST', 'portal-session', {})
    if (response.ok) location.assign((await response.json()).returnTo)
    else delete localStorage.token
  }

  for (const form of document.forms) {
    form.onsubmit = async (event) => {
      event.preventDefault()
      const response = await call('POST', form.id, Object.fromEntries(new FormData(form, event.submitter)))
      document.querySelector('[role=alert]').hidden = response.ok
      if (!response.ok) return
      localStorage.token = (await response.json()).token
      await enter()
    }
  }
  document.querySelector('#logout')?.addEventListener('click', async () => {
    await call('DELETE', 'portal-session', {})
    delete localStorage.token
    location.assign('/enter')
  })
  if (location.pathname === '/enter' && localStorage.token) enter()`

export const bearerLogin: Login = async (app, { sso, secret, loginUrl }) => {
  const key = new TextEncoder().encode(secret)
  const tokenFor = async (audience: string, id: string, lifetime: string): Promise<string> =>
    await new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(id).setAudience(audience)
      .setExpirationTime(lifetime).sign(key)
  const userOf = async (audience: string, token = ''): Promise<User | null> => {
    const verified = await jwtVerify(token, key, { algorithms: ['HS256'], audience }).catch(() => null)
    return userWith(verified?.payload.sub)
  }
  const attributes = ({ protocol }: FastifyRequest) =>
    ({ path: '/oauth', httpOnly: true, sameSite: 'lax', secure: protocol === 'https' }) as const

  await app.register(cookie)
  await app.register(partnerSso<User>, {
    ...sso,
    async currentUser (request, reply) {
      // It has served: the next user of this browser must not be signed in by it.
      reply.clearCookie('portal_session', attributes(request))
      return await userOf('portal', request.cookies.portal_session)
    },
    loginPage: '/enter'
  })

  app.post('/api/portal-session', async (request, reply) => {
    const user = await userOf('api', request.headers.authorization?.replace(/^Bearer /, ''))
    if (user === null) return reply.code(401).send({ error: 'invalid_token' })
    const token = await tokenFor('portal', user.id, '1m')
    reply.setCookie('portal_session', token, { ...attributes(request), maxAge: 60 })
    return { returnTo: app.partnerSso.returnTo(request, reply) ?? '/' }
  })

  // At logout, for one that has not served.
  app.delete('/api/portal-session', (request, reply) =>
    reply.clearCookie('portal_session', attributes(request)).code(204).send())

  // What the API has already.
  app.post<{ Body: { user?: string } }>('/api/login', async ({ body }, reply) => {
    const user = userWith(body.user)
    return user === null ? reply.code(400).send({}) : { token: await tokenFor('api', user.id, '1h') }
  })
  app.post<{ Body: { name: string } }>('/api/register', async ({ body }) =>
    ({ token: await tokenFor('api', addUser(body.name).id, '1h') }))
  app.get('/enter', (_request, reply) => html(reply, clientPage()))
  app.get('/client.js', (_request, reply) => reply.type('text/javascript').send(script))
  app.get('/', (_request, reply) => html(reply, clientHomePage(loginUrl)))
}
