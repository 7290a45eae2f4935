// Correct apps that are unusual: no rule fails.
import { setTimeout } from 'node:timers/promises'
import cors from '@fastify/cors'
import rateLimit from '@fastify/rate-limit'
import session from '@fastify/session'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Store } from '../../../lib/index.ts'
import type { User } from '../../../lib/testing/index.ts'
import { personOf, PORTAL, recordOf, sessionCookie } from '../../app.ts'
import {
  currentUser, form, formAction, formTo, isLoggedIn, location, loginPage, onRequest, record, scripts, sessionWith,
  withHelmet
} from './changes.ts'
import { byCookie, byForm, inTurn, ownStore, people } from './row.ts'
import type { Change, Row } from './row.ts'

/** Attributes of a session cookie, for @fastify/cookie. */
const ATTRIBUTES = { httpOnly: true, sameSite: 'lax', path: '/' } as const

const sessions: Change = {
  prepare: (app) => app.register(session, {
    secret: 'only-for-tests-0123456789abcdefgh',
    saveUninitialized: false,
    rolling: true,
    cookie: { secure: 'auto', sameSite: 'lax', path: '/' }
  }),
  startSession: (person, _reply, { session }) => Object.assign(session, { person }),
  ...currentUser(({ session }) => (session as { person?: string }).person ?? null)
}

/** A login that ends the sessions that the user has. */
function oneSession (): Change {
  const last = new Map<string, string>()
  return {
    startSession (person, reply) {
      const id = crypto.randomUUID()
      last.set(person, id)
      reply.setCookie('sid', id, ATTRIBUTES)
    },
    ...currentUser(({ cookies }) => [...last].find(([, id]) => id === cookies.sid)?.[0] ?? null)
  }
}

/** A session gets another identifier with each request, and the one before is nobody's. */
function rotating (): Change {
  const sessions = new Map<string, string>()
  const begin = (person: string, reply: FastifyReply): void => {
    const id = crypto.randomUUID()
    sessions.set(id, person)
    reply.setCookie('sid', id, ATTRIBUTES)
  }
  return {
    startSession: begin,
    ...currentUser(({ cookies: { sid = '' } }, reply) => {
      const person = sessions.get(sid)
      if (person === undefined || !sessions.delete(sid)) return null
      begin(person, reply)
      return person
    })
  }
}

/** A login with a password that works once. */
function oneLogin (): Change {
  const used = new Set<string>()
  return {
    startSession (person, reply) {
      if (!used.has(person)) reply.header('set-cookie', sessionCookie(person))
      used.add(person)
    }
  }
}

const tokens = new Map(['ada', 'bob', 'eve'].map((person) => [person, crypto.randomUUID()]))
const byToken = (person: string): User => ({ cookies: `once=${tokens.get(person)}` })

/** An API with bearer tokens gives a browser a cookie for one sign-in. */
const once: Change = {
  ...currentUser(({ cookies }, reply) => {
    reply.clearCookie('once', { path: '/oauth' })
    return [...tokens].find(([, token]) => token === cookies.once)?.[0] ?? null
  }),
  users: people(byToken)
}

const strictToken = (person: string): User =>
  ({ cookies: `Set-Cookie: once=${tokens.get(person)}; Path=/oauth; HttpOnly; SameSite=Strict` })

/** By an API of the app: no page of it is needed. */
const byApi = (user: string): User => ({ login: (page) => page.post({ user }, `/login${new URL(page.url).search}`) })

/** A session begins with the first request, and the login writes its user into it. */
function guests (): Change {
  const sessions = new Map<string, string>()
  return {
    prepare: (app) => app.addHook('onRequest', async (request, reply) => {
      if (request.cookies.sid !== undefined || !/html/.test(String(request.headers.accept))) return
      reply.setCookie('sid', crypto.randomUUID(), ATTRIBUTES)
    }),
    startSession: (person, _reply, { cookies }) => sessions.set(String(cookies.sid), person),
    ...currentUser(({ cookies }) => sessions.get(cookies.sid ?? '') ?? null)
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
  return personOf(request)
})

const byScript = (user: string): User => ({ login: (page) => page.post({ user }) })
const byHeader = (person: string): User => ({ headers: { 'x-session': person } })
const ofHeader = ({ headers }: FastifyRequest): string | null => headers['x-session'] as string | undefined ?? null

/** The login gives the address to return to to a script of its page. */
const leadTo: Change['leadTo'] = (url, reply) => reply.send({ url })

export const CORRECT: Row[] = [
  ['as it is', {}],
  ['a guard before authorize that leads to the login', onRequest(async (request, reply) =>
    request.url.startsWith('/oauth/authorize') && !isLoggedIn(request)
      ? reply.redirect(`/login?return_to=${encodeURIComponent(request.url)}`, 302)
      : undefined)],
  ['a guard before authorize that sends the login itself', onRequest(async (request, reply) =>
    request.url.startsWith('/oauth/authorize') && !isLoggedIn(request)
      ? reply.code(401).type('text/html').send(formTo(`/login?return_to=${encodeURIComponent(request.url)}`))
      : undefined)],
  ['a test whether cookies are kept, which leads to the same address', onRequest(async (request, reply) =>
    request.headers.accept?.includes('html') === true && request.cookies.probe === undefined
      ? reply.setCookie('probe', '1', { path: '/' }).redirect(request.url, 302)
      : undefined)],
  ['the login page is one of another server', {
    options: { loginPage: '/app/login' },
    leadTo,
    users: people(byApi)
  }],
  ['the login page is one of another server, and users are known by a cookie', {
    options: { loginPage: '/app/login' },
    users: people(byCookie)
  }],
  ['the bearer example’s cookie, Strict', {
    options: { ...once.options, loginPage: '/enter' },
    prepare: (app) => app.get('/enter', (_request, reply) =>
      reply.type('text/html').send('<div id="app"></div><script src="/app.js"></script>')),
    users: people(strictToken)
  }],
  ['a session that guests have, and that the login keeps', guests],
  ['a session that the login replaces, of guests', loginPage((_request, reply) => {
    reply.setCookie('sid', 'guest', { path: '/' })
    return form()
  })],
  ['an error page of the app', { options: { errorPage: () => '<!doctype html><title>Hoppla</title>' } }],
  ['an error page of the app, sent by itself', {
    options: { errorPage: (_refusal, _request, reply) => reply.type('text/html').send('<title>Hoppla</title>') }
  }],
  ['two forms on the login page', loginPage(() => `<form action="/search"><input name="q"></form>${form()}`)],
  ['a login of two pages', {
    ...loginPage(({ url }) => /step=2/.test(url)
      ? form('<input type="hidden" name="step" value="2">')
      : '<form><input name="tenant" value=""><input type="hidden" name="step" value="2"></form>'),
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
    startSession: (person, reply, { headers }) =>
      reply.header('set-cookie', sessionCookie(person)).setCookie('ua', String(headers['user-agent']), ATTRIBUTES),
    ...currentUser((request) =>
      request.cookies.ua === request.headers['user-agent'] ? personOf(request) : null)
  }],
  ['a session of a day', sessionWith('Max-Age=86400; Path=/; HttpOnly; SameSite=Lax')],
  ['a login that keeps the address to return to in a cookie of its own', {
    options: { loginPage: (_returnTo: string) => '/login' },
    ...loginPage((_request, reply) => {
      reply.setCookie('next', '/', { path: '/' })
      return form()
    })
  }],
  ['302 after the form', { leadTo: (url, reply) => reply.redirect(url, 302) }],
  ['a redirect to the login by currentUser', currentUser((request, reply) =>
    personOf(request) ?? void reply.redirect(`/login?return_to=${encodeURIComponent(request.url)}`, 302))],
  ['a limit that the check meets once', limitedOnce],
  ['roles that change the name of the record', record(({ name }) => ({ name, product_role: 'Product Read Only' }))],
  ['users without an e-mail address',
    record(({ external_id: id }) => ({ email: `${id}@users.noreply.partner.example` }))],
  ['a portal function', { options: { portal: (clientId: string) => clientId === PORTAL.clientId ? PORTAL : null } }],
  ['a slow portal function', {
    options: { portal: async (clientId: string) => await setTimeout(3, clientId === PORTAL.clientId ? PORTAL : null) }
  }],
  ['a redirect_uri with a query', {
    options: { portal: { ...PORTAL, redirectUri: 'https://portal.example/cb?tenant=a%20b&x=1' } },
    settings: { redirectUri: 'https://portal.example/cb?tenant=a%20b&x=1' }
  }],
  ['a store that answers late', () => ({ options: { store: late(ownStore()) } })],
  ['slow', onRequest(() => setTimeout(5))],
  ['a prefix', { options: { prefix: '/partner/sso' }, settings: { prefix: '/partner/sso' } }],
  ['sessions', sessions],
  ['one session for each user', oneSession],
  ['a session that is renewed with each request', rotating, 'advice:login.cookie'],
  ['a sealed session that is another text each time', {
    startSession: (person, reply) => reply.setCookie('sid', `${person} 0`, ATTRIBUTES),
    ...currentUser(({ cookies }, reply) => {
      const [person = ''] = cookies.sid?.split(' ') ?? []
      reply.setCookie('sid', `${person} ${crypto.randomUUID()}`, ATTRIBUTES)
      return person === '' ? null : person
    })
  }],
  ['a password that works once', oneLogin],
  ['a script that leads on, its address escaped', {
    leadTo: (url, reply) =>
      reply.type('text/html').send(`<script>location = "${url.replaceAll('/', '\\/')}"</script>`)
  }],
  ['a header that leads on', {
    leadTo: (url, reply) => reply.header('refresh', `0; url=${url}`).send('Welcome')
  }],
  ['cookies that are not the session', onRequest(async (_request, reply) => {
    reply.setCookie('XSRF-TOKEN', crypto.randomUUID(), { sameSite: 'strict', path: '/' }).setCookie('node', '1')
  })],
  ['a cookie that serves one sign-in', once],
  ['a login that serves one sign-in, by a form', oneSignIn()],
  ['a login that serves one sign-in, with a password that works once', { ...oneLogin(), ...oneSignIn() }],
  ['a login that serves one sign-in, by a script', {
    ...oneSignIn(),
    leadTo,
    users: people(byScript)
  }],
  ['a login page with status 401', loginPage((_request, reply) => {
    reply.code(401)
    return form()
  })],
  ['users known by a header', {
    options: { currentUser: ofHeader, loginPage: 'https://login.partner.example/' },
    users: people(byHeader)
  }],
  ['users known by a header, others refused', {
    ...currentUser((request, reply) => ofHeader(request) ?? void reply.code(401).send({ message: 'Log in' })),
    users: people(byHeader)
  }],
  ['a login page that gets no address to return to', { options: { loginPage: () => '/login' } }],
  ['no login page', {
    login: false,
    users: people(byCookie)
  }],
  ['a login page of currentUser', currentUser((request, reply) => personOf(request) ?? void reply.code(401)
    .type('text/html').send(formTo(`/login?return_to=${encodeURIComponent(request.url)}`)))],
  ['a user who may not enter, with an old session', {
    users: { user: byCookie('ada'), ineligible: { cookies: 'sid=x' } }
  }],
  ['a form that a script sends', {
    ...formAction("'self'"),
    leadTo,
    users: people(byScript)
  }],
  ['a login of scripts', {
    ...scripts,
    leadTo,
    users: people(byScript)
  }],
  ['a gateway that names the user in a header', {
    ...onRequest(async ({ url, headers }, reply) =>
      url.startsWith('/oauth/authorize') && !('x-session' in headers) ? reply.code(401).send('Log in') : undefined),
    options: { currentUser: ofHeader },
    users: people(byHeader)
  }],
  ['a gateway that names the user in one of two headers', {
    options: {
      ...currentUser(({ headers }) => headers['x-forwarded-user'] ?? headers['x-forwarded-email'] ?? null).options,
      loginPage: 'https://login.partner.example/'
    },
    users: { user: { headers: { 'X-Forwarded-User': 'ada' } } }
  }],
  ['a login that compares Origin and Host', onRequest(async ({ headers: { host, origin } }, reply) =>
    origin !== undefined && new URL(origin).host !== host ? reply.code(403).send() : undefined)],
  ['a second user who may not enter', { users: { user: [byForm('ada'), byForm('eve')] } }],
  ['redirects written again', location((url) => {
    const again = new URL(url, 'http://localhost')
    again.search = String(again.searchParams)
    return url.startsWith('https:') ? again.href : url
  })],
  ['a login page that logs out', loginPage((_request, reply) => {
    reply.clearCookie('sid', { path: '/' })
    return form()
  })],
  ['the README’s rate limit', {
    prepare: (app) => app.register(rateLimit, { global: false }),
    options: { routeOptions: (route) => route === 'token' ? { config: { rateLimit: { max: 60 } } } : {} }
  }],
  ['two processes, one store', () => {
    const options = { store: ownStore() }
    return { make: () => inTurn({ options }, { options }) }
  }],
  ['other plugins', {
    async prepare (app) {
      await app.register(cors, { origin: true, credentials: true })
      app.addHook('onSend', async (_request, reply) => { reply.header('etag', '"1"') })
      app.addHook('preSerialization', async (_request, _reply, data) => ({ data }))
    }
  }],
  ['a constraint', { options: { routeOptions: { constraints: { host: /^localhost/ } } } }],
  ['@fastify/helmet, with a form-action for the portal', formAction("'self'", 'https://portal.example')],
  ['no form-action', withHelmet({ contentSecurityPolicy: { directives: { formAction: null } } })],
  ['form-action with a path', formAction("'self'", 'https://portal.example/elsewhere')],
  ['SameSite=None; Secure', sessionWith('Path=/; HttpOnly; Secure; SameSite=None')],
  ['a cookie for /oauth', sessionWith('Path=/oauth; HttpOnly; SameSite=Lax')],
  ['a Strict cookie beside the session', {
    startSession: (person, reply) =>
      reply.setCookie('csrf', 'x', { httpOnly: true, sameSite: 'strict' }).header('set-cookie', sessionCookie(person))
  }],
  ['client users', {
    settings: { level: 'client' },
    options: {
      portal: { ...PORTAL, level: 'client' },
      ...record(() => ({ type: 'client', control_role: 'Client Administrator', client_id: 42 })).options
    }
  }],
  ['names', record(({ name }) => ({ name: `${name} & Söhne O’Brien Null (100 %) <dispute> Ä李👩‍👧` }))],
  ['people of the name Null', record(() => ({ name: 'Null' }))],
  ['a shared mailbox and one name', record(() => ({ email: 'disputes@partner.example', name: 'Disputes' }))],
  ['a page for the ineligible', {
    options: {
      portalEligibility: (person, { reply }) =>
        recordOf(person) ?? reply.code(403).type('text/html').send('Ask us')
    }
  }],
  ['a page of another site for the ineligible', {
    options: {
      portalEligibility: (person, { reply }) =>
        recordOf(person) ?? reply.redirect('https://help.partner.example/', 302)
    }
  }],
  ['two portals and a rotated secret', {
    options: {
      portal: [
        { ...PORTAL, clientId: 'test' },
        { ...PORTAL, clientSecret: ['the-next-one-of-the-portal', PORTAL.clientSecret] }
      ]
    }
  }],
  ['Basic and PKCE', { settings: { clientAuthentication: 'basic', pkce: true } }]
]
