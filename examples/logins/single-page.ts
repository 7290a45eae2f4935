// A single-page client, whose API keeps a session in a cookie.
// From a clone, with a portal beside it: npm run ready && node examples/dist/logins/start.js single-page
import formbody from '@fastify/formbody'
import partnerSso from 'fastify-partner-sso'
import { clientPage, homePage } from '../pages.ts'
import { addUser, userWith } from '../users.ts'
import type { User } from '../users.ts'
import { addSessions, currentUser, html, logIn, sameOrigin } from './sessions.ts'
import type { Login } from './settings.ts'

/** The client at /app/login. */
const script = `
  // The API gets return_to from the URL of the page. A login that the portal did not begin says so: it must not lead to
  // a sign-in that was given up.
  const query = new URLSearchParams(location.search).has('return_to') ? location.search : '?return_to=/'

  async function send (path, form) {
    const body = form && JSON.stringify(Object.fromEntries(form))
    const headers = body ? { 'content-type': 'application/json' } : {}
    const response = await fetch(path + query, { method: body ? 'POST' : 'GET', headers, body })
    const { user, returnTo } = await response.json()
    document.querySelector('[role=alert]').hidden = response.ok
    // Not by the router of the client: the authorization endpoint is a page of the server.
    if (user) location.assign(returnTo ?? '/')
  }

  for (const form of document.forms) {
    form.onsubmit = (event) => {
      event.preventDefault()
      send('/api/' + form.id, new FormData(form, event.submitter))
    }
  }
  send('/api/session')`

export const singlePageLogin: Login = async (app, { sso, secret, loginUrl }) => {
  // For the form of the logout.
  await app.register(formbody)
  await addSessions(app, secret)
  await app.register(partnerSso<User>, { ...sso, currentUser, loginPage: '/app/login' })

  // For a user who is logged in already.
  app.get('/api/session', (request, reply) => {
    const user = currentUser(request)
    reply.header('cache-control', 'no-store')
    return reply.send({ user, returnTo: user && app.partnerSso.returnTo(request, reply) })
  })

  app.post<{ Body: { user?: string } }>('/api/login', { onRequest: sameOrigin }, async (request, reply) => {
    const user = userWith(request.body.user)
    if (user === null) return reply.code(400).send({ user })
    await logIn(request, user)
    return reply.send({ user, returnTo: app.partnerSso.returnTo(request, reply) })
  })

  app.post<{ Body: { name: string } }>('/api/register', { onRequest: sameOrigin }, async (request, reply) => {
    const user = addUser(request.body.name)
    await logIn(request, user)
    return reply.send({ user, returnTo: app.partnerSso.returnTo(request, reply) })
  })

  app.post('/logout', { onRequest: sameOrigin }, async (request, reply) => {
    await request.session.destroy()
    return reply.redirect('/', 303)
  })

  app.get('/app/*', (_request, reply) => html(reply, clientPage()))
  app.get('/login', (_request, reply) => reply.redirect('/app/login'))
  app.get('/client.js', (_request, reply) => reply.type('text/javascript').send(script))
  app.get('/', (request, reply) => html(reply, homePage(currentUser(request), loginUrl)))
}
