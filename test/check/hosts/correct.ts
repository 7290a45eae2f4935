// Correct apps that are unusual: no rule fails.
import { setTimeout } from 'node:timers/promises'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import session from '@fastify/session'
import type { FastifyRequest } from 'fastify'
import { currentUser, location, onRequest, record } from './changes.ts'
import type { Store } from '../../../lib/index.ts'
import type { User as Tester } from '../../../lib/testing/index.ts'
import type { Change, Row } from './host.ts'
import {
  byCookie, form, formAction, formTo, inTurn, ownStore, PORTAL, recordOf, signedIn, USERS, userOf
} from './host.ts'

const sessions: Change = {
  prepare: (app) => app.register(session, {
    secret: 'only-for-tests-0123456789abcdefgh',
    saveUninitialized: false,
    rolling: true,
    cookie: { secure: 'auto', sameSite: 'lax', path: '/' }
  }),
  remember: (_reply, name, _options, { session }) => { Object.assign(session, { user: name }) },
  ...currentUser(({ session }) => USERS[(session as { user?: string }).user ?? ''] ?? null)
}

/** A login that ends the sessions that the user has. */
function oneSession (): Change {
  const last = new Map<string, string>()
  return {
    remember (reply, name, options) {
      const id = crypto.randomUUID()
      last.set(name, id)
      return reply.setCookie('sid', id, { ...options, signed: false })
    },
    ...currentUser(({ cookies }) => {
      const [name = ''] = [...last].find(([, id]) => id === cookies.sid) ?? []
      return USERS[name] ?? null
    })
  }
}

/** A session gets another identifier with each request, and the one before is nobody's. */
function rotating (): Change {
  const sessions = new Map<string, string>()
  const begin: Change['remember'] = (reply, name) => {
    const id = crypto.randomUUID()
    sessions.set(id, name)
    return reply.setCookie('sid', id, { httpOnly: true, sameSite: 'lax', path: '/' })
  }
  return {
    remember: begin,
    ...currentUser((request, reply) => {
      const { sid = '' } = request.cookies
      const name = sessions.get(sid)
      if (name === undefined || !sessions.delete(sid)) return null
      begin(reply, name, {}, request)
      return USERS[name]
    })
  }
}

/** A login with a password that works once. */
function oneLogin (): Change {
  const used = new Set<string>()
  return {
    remember (reply, name, options) {
      if (!used.has(name)) reply.setCookie('sid', name, options)
      used.add(name)
    }
  }
}

const tokens = new Map(Object.keys(USERS).map((name) => [name, crypto.randomUUID()]))
const byToken = (name: string): Tester => ({ cookies: `once=${tokens.get(name)}` })

/** An API with bearer tokens gives a browser a cookie for one sign-in. */
const once: Change = {
  plugin: {
    currentUser ({ cookies }, reply) {
      reply.clearCookie('once', { path: '/oauth' })
      const [name = ''] = [...tokens].find(([, token]) => token === cookies.once) ?? []
      return USERS[name] ?? null
    }
  },
  users: { user: [byToken('ada'), byToken('cyd')], ineligible: byToken('bo') }
}

const strictToken = (name: string): Tester =>
  ({ cookies: `Set-Cookie: once=${tokens.get(name)}; Path=/oauth; HttpOnly; SameSite=Strict` })

/** By an API of the app: no page of it is needed. */
const byApi = (user: string): Tester => ({ login: (page) => page.post({ user }, `/login${new URL(page.url).search}`) })

/** A session begins with the first request, and the login writes its user into it. */
function guests (): Change {
  const sessions = new Map<string, string>()
  return {
    prepare: (app) => app.addHook('onRequest', async (request, reply) => {
      if (request.cookies.sid !== undefined || !/html/.test(String(request.headers.accept))) return
      reply.setCookie('sid', crypto.randomUUID(), { httpOnly: true, sameSite: 'lax', path: '/' })
    }),
    remember: (_reply, name, _options, { cookies }) => sessions.set(String(cookies.sid), name),
    ...currentUser(({ cookies }) => USERS[sessions.get(cookies.sid ?? '') ?? ''] ?? null)
  }
}

/** A limit that is over after a second. */
function limitedOnce (): Change {
  let requests = 0
  return onRequest(async (_request, reply) =>
    ++requests === 30 ? reply.code(429).header('retry-after', '0').send() : undefined)
}

/** Each operation takes some milliseconds. */
const late = (store: Store): Store => ({
  put: async (...args) => await setTimeout(3, await store.put(...args)),
  take: async (key) => await setTimeout(3, await store.take(key)),
  revoke: async (...args) => await setTimeout(3, await store.revoke(...args))
})

const oneSignIn = (): Change => currentUser((request, reply) => {
  reply.clearCookie('sid', { path: '/' })
  return userOf(request)
})

const byScript = (user: string): Tester => ({ login: (page) => page.post({ user }) })
const byHeader = (name: string) => ({ headers: { 'x-session': name } })
const ofHeader = (request: FastifyRequest) => USERS[String(request.headers['x-session'])] ?? null

export const CORRECT: Row[] = [
  ['as it is', {}],
  ['a guard before authorize that leads to the login', onRequest(async (request, reply) =>
    request.url.startsWith('/oauth/authorize') && userOf(request) === null
      ? reply.redirect(`/login?return_to=${encodeURIComponent(request.url)}`, 302)
      : undefined)],
  ['a guard before authorize that sends the login itself', onRequest(async (request, reply) =>
    request.url.startsWith('/oauth/authorize') && userOf(request) === null
      ? reply.code(401).type('text/html').send(formTo(`/login?return_to=${encodeURIComponent(request.url)}`))
      : undefined)],
  ['a test whether cookies are kept, which leads to the same address', onRequest(async (request, reply) =>
    request.headers.accept?.includes('html') === true && request.cookies.probe === undefined
      ? reply.setCookie('probe', '1', { path: '/' }).redirect(request.url, 302)
      : undefined)],
  ['the login page is one of another server', {
    plugin: { loginPage: '/app/login' },
    sendBack: (reply, url) => reply.send({ url }),
    users: { user: [byApi('ada'), byApi('cyd')], ineligible: byApi('bo') }
  }],
  ['the login page is one of another server, and users are known by a cookie', {
    plugin: { loginPage: '/app/login' },
    users: { user: [byCookie('ada'), byCookie('cyd')], ineligible: byCookie('bo') }
  }],
  ['the bearer example’s cookie, Strict', {
    plugin: {
      ...once.plugin,
      loginPage: '/enter'
    },
    prepare: (app) => app.get('/enter', (_request, reply) =>
      reply.type('text/html').send('<div id="app"></div><script src="/app.js"></script>')),
    users: { user: [strictToken('ada'), strictToken('cyd')], ineligible: strictToken('bo') }
  }],
  ['a session that guests have, and that the login keeps', guests],
  ['a session that the login replaces, of guests', {
    page: async (_request, reply) => reply.setCookie('sid', 'guest', { path: '/' }).type('text/html').send(form())
  }],
  ['an error page of the app', { plugin: { errorPage: () => '<!doctype html><title>Hoppla</title>' } }],
  ['an error page of the app, sent by itself', {
    plugin: { errorPage: (_refusal, _request, reply) => reply.type('text/html').send('<title>Hoppla</title>') }
  }],
  ['two forms on the login page', {
    page: async () => `<form action="/search"><input name="q"></form>${form()}`
  }],
  ['a login of two pages', {
    page: async (request) => /step=2/.test(request.url)
      ? form('<input type="hidden" name="step" value="2">')
      : '<form><input name="tenant" value=""><input type="hidden" name="step" value="2"></form>',
    users: {
      user: {
        async login (page) {
          await page.get('/login?step=2')
          await page.post({ user: 'ada' }, page.url)
        }
      }
    }
  }],
  ['an app that compares the user agent of a session', {
    remember: (reply, name, options, request) =>
      reply.setCookie('sid', name, options)
        .setCookie('ua', String(request.headers['user-agent']), { ...options, signed: false }),
    ...currentUser((request) =>
      request.cookies.ua === request.headers['user-agent'] ? userOf(request) : null)
  }],
  ['a session of a day', { cookie: { maxAge: 86_400 } }],
  ['a login that keeps the address to return to in a cookie of its own', {
    plugin: { loginPage: (_returnTo: string) => '/login' },
    page: async (_request, reply) => reply.setCookie('next', '/', { path: '/' }).type('text/html').send(form())
  }],
  ['307 to the authorization endpoint, by GET', { sendBack: (reply, url) => reply.redirect(url, 302) }],
  ['a redirect to the login by currentUser', currentUser((request, reply) =>
    userOf(request) ?? void reply.redirect(`/login?return_to=${encodeURIComponent(request.url)}`, 302))],
  ['a limit that the check meets once', limitedOnce],
  ['roles that change the name of the record', record(({ name }) => ({ name, product_role: 'Product Read Only' }))],
  ['users without an e-mail address', record(({ id }) => ({ email: `${id}@users.noreply.partner.example` }))],
  ['a portal function', { plugin: { portal: (clientId: string) => clientId === PORTAL.clientId ? PORTAL : null } }],
  ['a slow portal function', {
    plugin: { portal: async (clientId: string) => await setTimeout(3, clientId === PORTAL.clientId ? PORTAL : null) }
  }],
  ['a redirect_uri with a query', {
    portal: { redirectUri: 'https://portal.example/cb?tenant=a%20b&x=1' },
    double: { redirectUri: 'https://portal.example/cb?tenant=a%20b&x=1' }
  }],
  ['a store that answers late', () => ({ plugin: { store: late(ownStore()) } })],
  ['slow', onRequest(() => setTimeout(5))],
  ['a prefix', { plugin: { prefix: '/partner/sso' }, double: { prefix: '/partner/sso' } }],
  ['sessions', sessions],
  ['one session for each user', oneSession],
  ['a session that is renewed with each request', rotating, 'advice:login.cookie'],
  ['a sealed session that is another text each time', {
    remember: (reply, name, options) => reply.setCookie('sid', `${name} 0`, options),
    plugin: {
      currentUser (request, reply) {
        const [name = ''] = signedIn(request)?.split(' ') ?? []
        reply.setCookie('sid', `${name} ${Math.random()}`, { signed: true, httpOnly: true, sameSite: 'lax', path: '/' })
        return USERS[name] ?? null
      }
    }
  }],
  ['a password that works once', oneLogin],
  ['a script that leads on, its address escaped', {
    sendBack: (reply, url) =>
      reply.type('text/html').send(`<script>location = "${url.replaceAll('/', '\\/')}"</script>`)
  }],
  ['a header that leads on', { sendBack: (reply, url) => reply.header('refresh', `0; url=${url}`).send('Welcome') }],
  ['cookies that are not the session', onRequest(async (_request, reply) => {
    reply.setCookie('XSRF-TOKEN', crypto.randomUUID(), { sameSite: 'strict', path: '/' }).setCookie('node', '1')
  })],
  ['a cookie that serves one sign-in', once],
  ['a login that serves one sign-in, by a form', oneSignIn()],
  ['a login that serves one sign-in, with a password that works once', { ...oneLogin(), ...oneSignIn() }],
  ['a login that serves one sign-in, by a script', {
    ...oneSignIn(),
    sendBack: (reply, url) => reply.send({ url }),
    users: { user: [byScript('ada'), byScript('cyd')], ineligible: byScript('bo') }
  }],
  ['a login page with status 401', {
    page: async (_request, reply) => { reply.code(401).type('text/html').send(form()) }
  }],
  ['users known by a header', {
    plugin: { currentUser: ofHeader, loginPage: 'https://login.partner.example/' },
    users: { user: [byHeader('ada'), byHeader('cyd')], ineligible: byHeader('bo') }
  }],
  ['users known by a header, others refused', {
    ...currentUser((request, reply) => ofHeader(request) ?? void reply.code(401).send({ message: 'Log in' })),
    users: { user: [byHeader('ada'), byHeader('cyd')], ineligible: byHeader('bo') }
  }],
  ['a login page that gets no address to return to', { plugin: { loginPage: () => '/login' } }],
  ['no login page', {
    plugin: { loginPage: undefined as never },
    users: { user: [byCookie('ada'), byCookie('cyd')], ineligible: byCookie('bo') }
  }],
  ['a login page of currentUser', currentUser((request, reply) => userOf(request) ?? void reply.code(401)
    .type('text/html').send(formTo(`/login?return_to=${encodeURIComponent(request.url)}`)))],
  ['a user who may not enter, with an old session', {
    users: { user: byCookie('ada'), ineligible: { cookies: 'sid=x' } }
  }],
  ['a form that a script sends', {
    helmet: formAction("'self'"),
    sendBack: (reply, url) => reply.send({ url }),
    users: { user: byScript('ada'), ineligible: byScript('bo') }
  }],
  ['a login of scripts', {
    page: async () => '<!doctype html><div id="app"></div><script src="/app.js"></script>',
    sendBack: (reply, url) => reply.send({ url }),
    users: { user: [byScript('ada'), byScript('cyd')], ineligible: byScript('bo') }
  }],
  ['a gateway that names the user in a header', {
    ...onRequest(async ({ url, headers }, reply) =>
      url.startsWith('/oauth/authorize') && !('x-session' in headers) ? reply.code(401).send('Log in') : undefined),
    plugin: { currentUser: ofHeader },
    users: { user: [byHeader('ada'), byHeader('cyd')], ineligible: byHeader('bo') }
  }],
  ['a gateway that names the user in one of two headers', {
    plugin: {
      currentUser: ({ headers }) => USERS[String(headers['x-forwarded-user'] ?? headers['x-forwarded-email'])] ?? null,
      loginPage: 'https://login.partner.example/'
    },
    users: { user: { headers: { 'X-Forwarded-User': 'ada' } } }
  }],
  ['a login that compares Origin and Host', onRequest(async ({ headers: { host, origin } }, reply) =>
    origin !== undefined && new URL(origin).host !== host ? reply.code(403).send() : undefined)],
  ['a second user who may not enter', { users: { user: ['ada', 'bo'].map((user) => ({ login: { user } })) } }],
  ['redirects written again', location((url) => {
    const again = new URL(url, 'http://localhost')
    again.search = String(again.searchParams)
    return url.startsWith('https:') ? again.href : url
  })],
  ['a login page that logs out', {
    page: async (_request, reply) => { reply.clearCookie('sid', { path: '/' }).type('text/html').send(form()) }
  }],
  ['the README’s rate limit', {
    prepare: (app) => app.register(rateLimit, { global: false }),
    plugin: { routeOptions: (route) => route === 'token' ? { config: { rateLimit: { max: 60 } } } : {} }
  }],
  ['two processes, one store', {
    async wrap (start) {
      const plugin = { store: ownStore() }
      return inTurn(await start({ plugin }), await start({ plugin }))
    }
  }],
  ['other plugins', {
    async prepare (app) {
      await app.register(cors, { origin: true, credentials: true })
      app.addHook('onSend', async (_request, reply) => { reply.header('etag', '"1"') })
      app.addHook('preSerialization', async (_request, _reply, data) => ({ data }))
    }
  }],
  ['a constraint', { plugin: { routeOptions: { constraints: { host: /^localhost/ } } } }],
  ['no form-action', { helmet: { contentSecurityPolicy: { directives: { formAction: null } } } }],
  ['form-action with a path', { helmet: formAction("'self'", 'https://portal.example/elsewhere') }],
  ['SameSite=None; Secure', { cookie: { sameSite: 'none', secure: true } }],
  ['a cookie for /oauth', { cookie: { path: '/oauth' } }],
  ['a Strict cookie beside the session', {
    remember: (reply, name, options) =>
      reply.setCookie('csrf', 'x', { httpOnly: true, sameSite: 'strict' }).setCookie('sid', name, options)
  }],
  ['client users', {
    portal: { level: 'client' },
    double: { level: 'client' },
    ...record(() => ({ type: 'client', control_role: 'Client Administrator', client_id: 42 }))
  }],
  ['names', record(({ name }) => ({ name: `${name} Null (100 %) <dispute> Ä李👩‍👧` }))],
  ['a shared mailbox and one name', record(() => ({ email: 'disputes@partner.example', name: 'Disputes' }))],
  ['a page for the ineligible', {
    plugin: {
      portalEligibility: (user, { reply }) =>
        user.isAgent ? recordOf(user) : reply.code(403).type('text/html').send('Ask us')
    }
  }],
  ['a page of another site for the ineligible', {
    plugin: {
      portalEligibility: (user, { reply }) =>
        user.isAgent ? recordOf(user) : reply.redirect('https://help.partner.example/', 302)
    }
  }],
  ['two portals and a rotated secret', {
    plugin: {
      portal: [
        { ...PORTAL, clientId: 'test' },
        { ...PORTAL, clientSecret: ['the-next-one-of-the-portal', PORTAL.clientSecret] }
      ]
    }
  }],
  ['Basic and PKCE', { double: { clientAuthentication: 'basic', pkce: true } }]
]
