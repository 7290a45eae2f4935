// Does the login lead back?
import type { FastifyReply, FastifyRequest } from 'fastify'
import { currentUser, isLoggedIn, onRequest, onSend, refuse } from './changes.ts'
import type { Row } from './host.ts'
import { byCookie, cookieOf, form, formAction, formTo, returnTo, signedIn, USERS, userOf } from './host.ts'

/** Where a login leads, changed. */
const back = (change: (url: string) => string) => (request: FastifyRequest, reply: FastifyReply) =>
  change(String(request.server.partnerSso.returnTo(request, reply)))

export const LOGIN: Row[] = [
  ['no login page', { plugin: { loginPage: '/log-in' } }, 'login.page'],
  ['a login page that throws', { page: async () => { throw new Error('no template') } }, 'login.page'],
  ['a login page that needs a session', onRequest(async (request, reply) =>
    request.url.startsWith('/login') && userOf(request) === null ? reply.redirect('/login') : undefined
  ), 'login.page'],
  ['a login page that is an API', {
    ...currentUser((request, reply) => userOf(request) ?? void reply.code(401).send({ message: 'Log in' })),
    users: { user: byCookie('ada') }
  }, 'advice:login.page'],
  ['redirects to the login as JSON', onSend((_payload, reply) => {
    const to = String(reply.getHeader('location'))
    if (!to.startsWith('/login')) return undefined
    reply.code(200).removeHeader('location').type('application/json')
    return JSON.stringify({ to })
  }), 'login.page'],
  ['a form that leads nowhere', { page: async () => formTo('/log-in') }, 'login.page'],
  ['a form of another site', { page: async () => formTo('https://login.example/') }, 'stopped'],
  ['no way to log in', { plugin: { loginPage: undefined as never } }, 'login.page'],
  ['no way to log in, and an old session', {
    plugin: { loginPage: undefined as never },
    users: { user: { cookies: 'sid=x' } }
  }, 'stopped'],
  ['a limit for users', refuse(429, 'Slow down', (request) => request.url.startsWith('/oauth') && isLoggedIn(request)),
    'stopped'],
  ['return_to is ignored', { back: () => '/' }, 'login.return'],
  ['307 after the form', { sendBack: (reply, url) => reply.redirect(url, 307) }, 'login.return'],
  ['return_to at another host', { back: back((url) => `http://staging.partner.example${url}`) }, 'login.return'],
  ['return_to without its query', { back: () => '/oauth/authorize' }, 'login.return'],
  ['return_to without a parameter', { back: back((url) => url.replace(/response_type=[^&]*&?/, '')) }, 'login.return'],
  ['return_to is decoded twice', { back: back(decodeURIComponent) }, 'login.return'],
  ['a second page forgets the way', { sendBack: (reply) => reply.redirect('/', 302) }, 'login.return'],
  ['a page in place of the redirect', {
    sendBack: (reply) => reply.type('text/html').send('<h1>Welcome</h1><a href="/">Go on</a>')
  }, 'login.return'],
  ['an open redirect', { back: returnTo }, 'login.open-redirect'],
  ['an open redirect: a backslash', {
    back: (request) => /^\/(?!\/)/.test(returnTo(request)) ? returnTo(request) : '/'
  }, 'login.open-redirect'],
  ['an open redirect for users who are logged in', {
    page: async (request, reply) => userOf(request) === null ? form() : reply.redirect(returnTo(request))
  }, 'login.open-redirect'],
  ['an open redirect to what begins as the app', {
    back: (request) => returnTo(request).startsWith('http://localhost') ? returnTo(request) : '/oauth/authorize'
  }, 'login.return', 'login.open-redirect'],
  ['an open redirect: the form is sent there', {
    page: async (request) => formTo(returnTo(request).startsWith('/oauth') ? '' : 'https://attacker.example/')
  }, 'login.open-redirect'],
  ['form-action as helmet has it', { helmet: {} }, 'login.form-action'],
  ['form-action none', { helmet: formAction("'none'") }, 'login.form-action'],
  ['form-action of the test portal', { helmet: formAction('https://test.portal.example') }, 'login.form-action'],
  ['Strict', { cookie: { sameSite: 'strict' } }, 'login.cookie'],
  ['Path=/login', { cookie: { path: '/login' } }, 'login.cookie'],
  ['a foreign Domain', { cookie: { domain: 'partner.example' } }, 'login.cookie'],
  ['SameSite=None without Secure', { cookie: { sameSite: 'none' } }, 'login.cookie'],
  ['a cookie that expires at once', { cookie: { maxAge: 0 } }, 'login.cookie'],
  ['a session of 4 s: milliseconds for seconds', { cookie: { maxAge: 4 } }, 'login.cookie'],
  ['a session of 86 s', { cookie: { maxAge: 86 } }, 'advice:login.cookie'],
  ['a cookie of guests that has the same name and a longer path', {
    ...currentUser((request, reply) => {
      const [, first = ''] = /(?:^|; )sid=([^;]*)/.exec(request.headers.cookie ?? '') ?? []
      if (first === '') reply.setCookie('sid', 'guest', { path: '/oauth/authorize' })
      const { valid, value } = request.unsignCookie(decodeURIComponent(first))
      return valid ? USERS[String(value)] ?? null : null
    })
  }, 'login.cookie'],
  ['a session for /app, given as the login sets it', {
    users: { user: { cookies: `HTTP/1.1 303 See Other\nSet-Cookie: sid=${cookieOf('ada')}; Path=/app; SameSite=Lax` } }
  }, 'login.cookie'],
  ['Strict, where the login page is one of another site', {
    plugin: { loginPage: 'https://login.partner.example/' },
    users: { user: { cookies: `sid=${cookieOf('ada')}; Path=/; HttpOnly; SameSite=Strict` } }
  }, 'login.cookie'],
  ['Strict, where a script of the login page may lead on', {
    cookie: { sameSite: 'strict' },
    page: async () => '<!doctype html><div id="app"></div><script src="/app.js"></script>',
    users: { user: { login: (page) => page.post({ user: 'ada' }) } }
  }, 'advice:login.cookie'],
  ['no HttpOnly', { cookie: { httpOnly: false } }, 'advice:login.cookie'],
  ['a cookie of 5 kB', {
    remember: (reply, name, options) => reply.setCookie('sid', `${name}${'x'.repeat(5000)}`, options)
  }, 'login.cookie'],
  ['__Host- without Secure', {
    remember: (reply, name, options) => reply.setCookie('__Host-sid', name, options),
    plugin: { currentUser: (request) => USERS[signedIn(request, '__Host-sid') ?? ''] ?? null }
  }, 'login.cookie'],
  ['another cookie than currentUser reads', {
    remember: (reply, name, options) => reply.setCookie('session', name, options)
  }, 'authorize.code']
]
