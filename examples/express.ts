// An Express 5 app with a login of its own. A Fastify with the plugin serves the three URLs of the portal.
// From a clone, with a portal beside it: npm run ready && node examples/dist/express.js
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import express from 'express'
import type { Request, Response } from 'express'
import Fastify from 'fastify'
import partnerSso from 'fastify-partner-sso'
import { homePage, loginPage, registerPage, stylesheet } from './pages.ts'
import { portal, startPortal } from './portal.ts'
import { addUser, portalRecord, userWith } from './users.ts'
import type { User } from './users.ts'

const port = Number(process.env.PORT ?? 3000)

// Sessions of the Express app: in a real one, express-session or the like.
const sessions = new Map<string, User>()

function sessionOf ({ headers: { cookie = '' } }: IncomingMessage): string {
  return /(?:^|; )acme_session=([\w-]+)/.exec(cookie)?.[1] ?? ''
}

function currentUser (request: IncomingMessage): User | null {
  return sessions.get(sessionOf(request)) ?? null
}

// Behind a proxy that ends TLS, both must know its address: else no cookie is Secure.
const trustProxy = process.env.TRUST_PROXY ?? false

const sso = Fastify({ logger: true, trustProxy, genReqId: () => randomUUID() })
await sso.register(partnerSso<User>, {
  portal,
  // `raw` is the request of Express, with what its middleware has added, such as `raw.session`.
  currentUser: ({ raw }) => currentUser(raw),
  portalEligibility: portalRecord,
  loginPage: '/login',
  // One process. With several, use `redis`.
  store: 'memory'
})
await sso.ready()

const app = express()
app.set('trust proxy', trustProxy)

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

app.use((request, response, next) => {
  // A page of another site would log the user in as the attacker, or out.
  const { 'sec-fetch-site': site = 'none' } = request.headers
  if (request.method === 'GET' || site === 'same-origin' || site === 'none') next()
  else response.status(403).send('Sent by another site')
})

app.get('/', (request, response) => { response.send(homePage(currentUser(request), portal.loginUrl)) })

app.get('/style.css', (_request, response) => { response.type('css').send(stylesheet) })

app.get('/login', (request, response) => {
  response.set('cache-control', 'no-store')
  // A login that the portal did not begin says so: it must not lead to a sign-in that was given up.
  if (request.query.return_to === undefined) response.redirect('/login?return_to=/')
  else if (currentUser(request) !== null) response.redirect(sso.partnerSso.returnTo(request, response) ?? '/')
  else response.send(loginPage(request.originalUrl))
})

app.post('/login', (request, response) => {
  const user = userWith(request.body?.user)
  if (user === null) response.status(400).send(loginPage(request.originalUrl, true))
  else logIn(user, request, response)
})

app.get('/register', (_request, response) => { response.send(registerPage()) })

app.post('/register', (request, response) => { logIn(addUser(request.body?.name ?? ''), request, response) })

app.post('/logout', (request, response) => {
  sessions.delete(sessionOf(request))
  response.clearCookie('acme_session')
  response.redirect(303, '/')
})

function logIn (user: User, request: Request, response: Response): void {
  const session = randomUUID()
  sessions.delete(sessionOf(request))
  sessions.set(session, user)
  // Lax, not Strict: the portal redirects the browser here from another site, and the session must be sent.
  response.cookie('acme_session', session, { httpOnly: true, sameSite: 'lax', secure: request.secure })
  response.redirect(303, sso.partnerSso.returnTo(request, response) ?? '/')
}

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
