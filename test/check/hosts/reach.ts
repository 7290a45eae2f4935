// Does the portal reach the plugin?
import { PORTAL } from '../../app.ts'
import { at, isLoggedIn, json, onRequest, redirect, refuse, server, title } from './changes.ts'
import { byCookie, people } from './row.ts'
import type { Row } from './row.ts'

const isOutside = ({ url }: { url: string }): boolean => url.startsWith('/oauth/')

export const REACH: Row[] = [
  ['a guard: 401 without a session', refuse(401, { message: 'Log in' }, isOutside), 'authorize.hook'],
  ['a guard: 401 without a session, and users by a cookie', {
    ...refuse(401, { message: 'Log in' }, (request) => at('authorize')(request) && !isLoggedIn(request)),
    users: people(byCookie)
  }, 'authorize.hook'],
  ['a filter that lets browsers pass only', refuse(403, 'Bot', (request) =>
    server(request) && !/Mozilla/.test(String(request.headers['user-agent']))), 'token.hook'],
  ['a portal function that throws at /oauth/token', () => {
    let path = ''
    return {
      ...onRequest(async ({ url }) => { path = url }),
      options: {
        portal () {
          if (path.startsWith('/oauth/token')) throw new Error('no such table')
          return PORTAL
        }
      }
    }
  }, 'token.hook'],
  ['a portal function that knows every client', {
    options: { portal: (clientId: string) => ({ ...PORTAL, clientId }) }
  }, 'advice:authorize.registered'],
  ['an index page for each path that nobody has, and another prefix', {
    options: { prefix: '/sso' },
    prepare: (app) => app.setNotFoundHandler((_request, reply) => reply.type('text/html').send(title('Acme')))
  }, 'authorize.hook'],
  ['a guard with status 400', refuse(400, { message: 'Bad' }, at('authorize')), 'authorize.hook'],
  ['a guard that leads people to the login',
    redirect((request) => isOutside(request) && !isLoggedIn(request), () => '/login'), 'token.hook'],
  ['an index page for browsers in place of the plugin', onRequest(async (request, reply) =>
    at('authorize')(request) && /html/.test(String(request.headers.accept)) && !isLoggedIn(request)
      ? reply.type('text/html').send(title('Acme'))
      : undefined), 'authorize.hook'],
  ['a guard at token and user', refuse(401, { message: 'Log in' }, server), 'token.hook'],
  ['a guard at user', refuse(401, { message: 'Log in' }, at('user')), 'user.hook'],
  ['a guard that redirects to the login', redirect(server, () => '/login'), 'token.hook'],
  ['a guard that throws where there is no session', onRequest(async (request) => {
    if (isOutside(request) && !isLoggedIn(request)) throw new TypeError('request.session is undefined')
  }), 'authorize.hook'],
  ['a guard that a hook onRoute adds', {
    prepare (app) {
      app.addHook('onRoute', (route) => {
        if (route.url === '/oauth/user') route.preHandler = async (_request, reply) => reply.code(401).send('Log in')
      })
    }
  }, 'user.hook'],
  ['a guard that verifies every Authorization header', onRequest(async ({ headers: { authorization } }, reply) =>
    authorization === undefined ? undefined : reply.code(401).send({ message: 'jwt malformed' })
  ), 'user.hook'],
  ['protection against CSRF', refuse(403, 'Missing csrf secret', at('token')), 'token.hook'],
  ...(['token', 'user'] as const).map((endpoint): Row => [`protection against CSRF at ${endpoint}, below a prefix`, {
    ...refuse(403, 'Missing csrf secret', ({ url }) => url.startsWith(`/sso/oauth/${endpoint}`)),
    options: { prefix: '/sso' },
    settings: { prefix: '/sso' }
  }, `${endpoint}.hook`]),
  ['an envelope around JSON', json((data) => ({ data })), 'token.response'],
  ['a preParsing hook that reads the body', {
    prepare (app) {
      app.addHook('preParsing', async (request, _reply, payload) => {
        if (at('token')(request)) for await (const chunk of payload) request.log.debug({ size: chunk.length })
        return payload
      })
    }
  }, 'token.hook'],
  ['a bodyLimit of 64 bytes', { options: { routeOptions: { bodyLimit: 64 } } }, 'token.hook'],
  ['a redirect to a language', redirect(at('authorize'), (url) => `/en${url}`), 'authorize.hook'],
  ['a redirect to https', redirect(isOutside, (url) => `https://localhost${url}`), 'address.https'],
  ['another prefix', { options: { prefix: '/sso' } }, 'authorize.hook'],
  ['a constraint', { options: { routeOptions: { constraints: { host: 'sso.partner.example' } } } }, 'authorize.hook'],
  ['another client_id', { options: { portal: { ...PORTAL, clientId: 'partner-124' } } }, 'authorize.registered'],
  ['another client_id, and an error page of the app', {
    options: { portal: { ...PORTAL, clientId: 'partner-124' }, errorPage: () => '<title>Sorry</title>' }
  }, 'authorize.registered'],
  ['a redirect_uri with a slash more', {
    options: { portal: { ...PORTAL, redirectUri: `${PORTAL.redirectUri}/` } }
  }, 'authorize.registered'],
  ['a portal function that returns null', { options: { portal: () => null } }, 'authorize.registered'],
  ['a portal function that throws', {
    options: { portal: () => { throw new Error('no such table') } }
  }, 'authorize.registered'],
  ['another client_secret', {
    options: { portal: { ...PORTAL, clientSecret: 'this-secret-is-of-the-test-portal' } }
  }, 'token.response']
]
