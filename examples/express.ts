// An Express 5 app with a login of its own. A Fastify with the plugin serves the three URLs of the portal.
// From a clone, with a portal beside it: npm run ready && node examples/dist/express.js
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import express from 'express'
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { homePage, loginPage, stylesheet } from './pages.ts'
import { portal, startPortal } from './portal.ts'
import { portalRecord, users } from './users.ts'
import type { User } from './users.ts'

const port = Number(process.env.PORT ?? 3000)

// Sessions of the Express app: in a real one, express-session or the like.
const sessions = new Map<string, User>()

function currentUser ({ headers: { cookie = '' } }: IncomingMessage): User | null {
  const [, id = ''] = /(?:^|; )acme_session=([\w-]+)/.exec(cookie) ?? []
  return sessions.get(id) ?? null
}

const sso = Fastify({ logger: true })
await sso.register(partnerSso<User>, {
  portal,
  // `raw` is the request of Express, with what its middleware has added, such as `raw.session`.
  currentUser: ({ raw }) => currentUser(raw),
  portalEligibility: portalRecord,
  loginPage: '/login'
})
await sso.ready()

const app = express()

// Before every body parser: Fastify reads the body of the token request by itself.
app.all('/oauth/*path', (request, response) => { sso.routing(request, response) })

app.use(express.urlencoded({ extended: false }))

app.use((_request, response, next) => {
  // Chrome and Safari apply form-action to the redirects after a form too: the login form leads back to the portal.
  const formAction = `'self' ${new URL(portal.redirectUri).origin}`
  response.setHeader('Content-Security-Policy',
    `default-src 'none'; style-src 'self'; frame-ancestors 'none'; form-action ${formAction}`)
  next()
})

app.get('/', (request, response) => {
  const user = currentUser(request)
  if (user === null) response.redirect('/login')
  else response.send(homePage(user, portal.loginUrl))
})

app.get('/style.css', (_request, response) => { response.type('css').send(stylesheet) })

app.get('/login', (_request, response) => { response.send(loginPage(users)) })

app.post('/login', (request, response) => {
  const user = users.find(({ id }) => id === request.body?.user)
  if (user === undefined) {
    response.status(400).send(loginPage(users, true))
    return
  }
  const session = randomUUID()
  sessions.set(session, user)
  // Lax, not Strict: the portal redirects the browser here from another site, and the session must be sent.
  response.cookie('acme_session', session, { httpOnly: true, sameSite: 'lax' })
  response.redirect(303, sso.partnerSso.returnTo(request, response) ?? '/')
})

app.post('/logout', (_request, response) => {
  response.clearCookie('acme_session')
  response.redirect(303, '/login')
})

const server = app.listen(port, 'localhost', (error) => {
  if (error !== undefined) throw error
  const child = startPortal(`http://localhost:${port}`)
  const stop = () => {
    child.kill()
    server.close()
    server.closeAllConnections()
    sso.close().catch(console.error)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
})
