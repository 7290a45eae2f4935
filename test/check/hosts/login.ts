// Does the login lead back?
import { personOf, sessionCookie, sessionOf } from '../../app.ts'
import {
  currentUser, form, formAction, formTo, isLoggedIn, loginPage, onRequest, onSend, refuse, returnTo, scripts,
  sessionWith, withHelmet
} from './changes.ts'
import { byCookie } from './row.ts'
import type { Change, Row } from './row.ts'

/** Where a login leads, changed. */
const back = (change: (url: string) => string): Change =>
  ({ returnTo: (request, reply, app) => change(String(app.partnerSso.returnTo(request, reply))) })

export const LOGIN: Row[] = [
  ['no login page', { options: { loginPage: '/log-in' } }, 'login.page'],
  ['a login page that throws', loginPage(() => { throw new Error('no template') }), 'login.page'],
  ['a login page that needs a session', onRequest(async (request, reply) =>
    request.url.startsWith('/login') && !isLoggedIn(request) ? reply.redirect('/login') : undefined
  ), 'login.page'],
  ['a login page that is an API', {
    ...currentUser((request, reply) => personOf(request) ?? void reply.code(401).send({ message: 'Log in' })),
    users: { user: byCookie('ada') }
  }, 'advice:login.page'],
  ['redirects to the login as JSON', onSend((_payload, reply) => {
    const to = String(reply.getHeader('location'))
    if (!to.startsWith('/login')) return undefined
    reply.code(200).removeHeader('location').type('application/json')
    return JSON.stringify({ to })
  }), 'login.page'],
  ['a form that leads nowhere', loginPage(() => formTo('/log-in')), 'login.page'],
  ['a form of another site', loginPage(() => formTo('https://login.example/')), 'stopped'],
  ['no way to log in', { login: false }, 'login.page'],
  ['no way to log in, and an old session', {
    login: false,
    users: { user: { cookies: 'sid=x' } }
  }, 'stopped'],
  ['a limit for users', refuse(429, 'Slow down', (request) => request.url.startsWith('/oauth') && isLoggedIn(request)),
    'stopped'],
  ['return_to is ignored', { returnTo: () => '/' }, 'login.return'],
  ['307 after the form', { leadTo: (url, reply) => reply.redirect(url, 307) }, 'login.return'],
  ['return_to at another host', back((url) => `http://staging.partner.example${url}`), 'login.return'],
  ['return_to without its query', { returnTo: () => '/oauth/authorize' }, 'login.return'],
  ['return_to without a parameter', back((url) => url.replace(/response_type=[^&]*&?/, '')), 'login.return'],
  ['return_to is decoded twice', back(decodeURIComponent), 'login.return'],
  ['a second page forgets the way', { leadTo: (_url, reply) => reply.redirect('/', 302) }, 'login.return'],
  ['a page in place of the redirect', {
    leadTo: (_url, reply) => reply.type('text/html').send('<h1>Welcome</h1><a href="/">Go on</a>')
  }, 'login.return'],
  ['an open redirect', { returnTo }, 'login.open-redirect'],
  ['an open redirect: a backslash', {
    returnTo: (request) => /^\/(?!\/)/.test(returnTo(request)) ? returnTo(request) : '/'
  }, 'login.open-redirect'],
  ['an open redirect for users who are logged in', {
    loginPage: (request, reply) => isLoggedIn(request)
      ? reply.redirect(returnTo(request))
      : reply.type('text/html').send(form())
  }, 'login.open-redirect'],
  ['an open redirect to what begins as the app', {
    returnTo: (request) => returnTo(request).startsWith('http://localhost') ? returnTo(request) : '/oauth/authorize'
  }, 'login.return', 'login.open-redirect'],
  ['an open redirect: the form is sent there', loginPage((request) =>
    formTo(returnTo(request).startsWith('/oauth') ? '' : 'https://attacker.example/')
  ), 'login.open-redirect'],
  ['form-action as helmet has it', withHelmet({}), 'login.form-action'],
  ['form-action none', formAction("'none'"), 'login.form-action'],
  ['form-action self, and a search form before that of the login', {
    ...formAction("'self'"),
    ...loginPage(() => '<form action="/search"><input name="q"></form><form method="post"><input name="user"></form>')
  }, 'login.form-action'],
  ['form-action of the test portal', formAction('https://test.portal.example'), 'login.form-action'],
  ['Strict', sessionWith('Path=/; HttpOnly; SameSite=Strict'), 'login.cookie'],
  ['Path=/login', sessionWith('Path=/login; HttpOnly; SameSite=Lax'), 'login.cookie'],
  ['Path=/login, where the login page has set another cookie', {
    ...sessionWith('Path=/login; HttpOnly; SameSite=Lax'),
    ...loginPage(({ headers }, reply) => {
      if (!headers.cookie?.includes('csrf=')) reply.setCookie('csrf', 'x', { path: '/' })
      return form()
    })
  }, 'login.cookie'],
  ['a foreign Domain', sessionWith('Domain=partner.example; Path=/; HttpOnly; SameSite=Lax'), 'login.cookie'],
  ['SameSite=None without Secure', sessionWith('Path=/; HttpOnly; SameSite=None'), 'login.cookie'],
  ['a cookie that expires at once', sessionWith('Max-Age=0; Path=/; HttpOnly; SameSite=Lax'), 'login.cookie'],
  ['a session of 4 s: milliseconds for seconds', sessionWith('Max-Age=4; Path=/; HttpOnly; SameSite=Lax'),
    'login.cookie'],
  ['a session of 86 s', sessionWith('Max-Age=86; Path=/; HttpOnly; SameSite=Lax'), 'advice:login.cookie'],
  ['a cookie of guests that has the same name and a longer path', currentUser((request, reply) => {
    const [first = ''] = /\bsid=[^;]*/.exec(request.headers.cookie ?? '') ?? []
    if (first === '') reply.setCookie('sid', 'guest', { path: '/oauth/authorize' })
    return personOf({ headers: { cookie: first } })
  }), 'login.cookie'],
  ['a session for /app, given as the login sets it', {
    users: { user: { cookies: `HTTP/1.1 303 See Other\nSet-Cookie: ${sessionOf('ada')}; Path=/app; SameSite=Lax` } }
  }, 'login.cookie'],
  ['Strict, where the login page is one of another site', {
    options: { loginPage: 'https://login.partner.example/' },
    users: { user: { cookies: `${sessionOf('ada')}; Path=/; HttpOnly; SameSite=Strict` } }
  }, 'login.cookie'],
  ['Strict, where a script of the login page may lead on', {
    ...sessionWith('Path=/; HttpOnly; SameSite=Strict'),
    ...scripts,
    users: { user: { login: (page) => page.post({ user: 'ada' }) } }
  }, 'advice:login.cookie'],
  ['no HttpOnly', sessionWith('Path=/; SameSite=Lax'), 'advice:login.cookie'],
  ['a cookie of 5 kB', {
    startSession: (person, reply) =>
      reply.header('set-cookie', sessionCookie(person).replace(';', `${'x'.repeat(5000)};`))
  }, 'login.cookie'],
  ['__Host- without Secure', {
    startSession: (person, reply) => reply.header('set-cookie', `__Host-${sessionCookie(person)}`),
    ...currentUser(({ headers: { cookie = '' } }) => personOf({ headers: { cookie: cookie.replace('__Host-', '') } }))
  }, 'login.cookie'],
  ['another cookie than currentUser reads', {
    startSession: (person, reply) => reply.header('set-cookie', sessionCookie(person).replace('sid', 'session'))
  }, 'authorize.code']
]
