// `app.partnerSso.returnTo()`: from the login back to the authorization request, in hosts of all kinds.
import cookie from '@fastify/cookie'
import express from 'express'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import { routerOptions } from '../helpers/fastify.ts'
import { hostOptions, startHost } from '../helpers/host.ts'
import type { User } from '../helpers/host.ts'
import { httpServer } from '../helpers/raw-server.ts'
import { injecting, wire } from '../helpers/wire.ts'
import type { Fetch, Wire } from '../helpers/wire.ts'

const REMOVAL = 'partner-sso-return=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'

const byCookie = (line: string): string => line.split(';', 1).join()

/** Adds a login that goes back to the authorization request, or to /home. */
function addLogin (app: FastifyInstance): void {
  app.post('/login', (request, reply) => reply.redirect(app.partnerSso.returnTo(request, reply) ?? '/home', 303))
}

/** A host with the login. It tries the cookie alone: what a login page does with return_to is its own. */
async function startLogin (
  t: Test, prepare: (app: FastifyInstance) => unknown = () => {}, server: FastifyServerOptions = {}
): Promise<FastifyInstance> {
  const { app } = await startHost(t, { loginPage: '/login' }, {
    server,
    async prepare (app) {
      app.removeAllContentTypeParsers()
      await prepare(app)
    },
    finish: addLogin
  })
  return app
}

interface Walk {
  /** What the response to the authorization request sets. */
  set: string[]
  /** Where the login leads. */
  location: string | null
  /** What the response of the login sets. */
  removed: string[]
}

/** Sent to the login without a user, and logged in with the cookies that came with it. */
async function walk (at: Wire, login = '/login', state = 'a state'): Promise<Walk> {
  const sent = await at.authorize({ state }, null)
  const set = sent.headers.getSetCookie()
  const back = await at.send(login, { method: 'POST', headers: { cookie: set.map(byCookie).join('; ') } })
  return { set, location: back.headers.get('location'), removed: back.headers.getSetCookie() }
}

/** The location leads to a code, with the state as it was. */
async function leadsBack (t: Test, at: Wire, location: string | null, state = 'a state'): Promise<void> {
  const { redirect } = await at.send(String(location), { headers: { 'x-user': 'alice' } })
  t.ok(redirect.has('code'), location ?? 'no location')
  t.equal(redirect.get('state'), state, location ?? 'no location')
}

const inProcess = (app: FastifyInstance): Wire => wire('', undefined, { fetch: injecting(app) })

t.test('a host without a plugin for cookies', async (t) => {
  const at = inProcess(await startLogin(t))
  const { set, location, removed } = await walk(at)
  t.equal(set.length, 1)
  t.match(set[0], /^partner-sso-return=%2Foauth%2Fauthorize%3F\S+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)
  t.strictSame(removed, [REMOVAL], 'handed back once')
  await leadsBack(t, at, location)
  const direct = await at.send('/login', { method: 'POST' })
  t.strictSame([direct.headers.get('location'), direct.headers.getSetCookie()], ['/home', []], 'a login by itself')
})

t.test('the state comes back as it was sent', async (t) => {
  const at = inProcess(await startLogin(t))
  for (const state of ['a%252Fb', 'é + "quoted", <b>; \\ %', '🔑']) {
    const { location } = await walk(at, '/login', state)
    await leadsBack(t, at, location, state)
  }
  const redirectUri = 'https://portal.example/oauth/callback'
  const query = `client_id=partner-123&redirect_uri=${redirectUri}&response_type=code&state=%zz%E9;,"`
  const raw = await at.send(`/oauth/authorize?${query}`)
  const back = await at.send('/login', {
    method: 'POST', headers: { cookie: raw.headers.getSetCookie().map(byCookie).join() }
  })
  t.match(back.headers.get('location'), /&state=%zz%E9;,%22$/)
})

t.test('a request that is served is forgotten, by whatever way it came back', async (t) => {
  const at = inProcess(await startLogin(t))
  const { set } = await walk(at)
  const headers = { cookie: set.map(byCookie).join() }
  t.strictSame((await at.authorize({}, 'alice', headers)).headers.getSetCookie(), [REMOVAL])
  t.strictSame((await at.authorize({}, 'alice')).headers.getSetCookie(), [])
  const foreign = { cookie: 'partner-sso-return=%2Fother%2Foauth%2Fauthorize%3Fa=b' }
  t.strictSame((await at.authorize({}, 'alice', foreign)).headers.getSetCookie(), [], 'another app keeps its own')
})

t.test('the return_to of the login page comes first: two tabs are two requests', async (t) => {
  const at = inProcess(await startLogin(t))
  const first = await at.authorize({ state: 'first' }, null)
  const second = await at.authorize({ state: 'second' }, null)
  const headers = { cookie: second.headers.getSetCookie().map(byCookie).join() }
  const form = `/login?${first.redirect}`
  t.match(form, 'return_to=')
  const logIn = async (url: string) => (await at.send(url, { method: 'POST', headers })).headers
  await leadsBack(t, at, (await logIn(form)).get('location'), 'first')
  t.strictSame((await logIn(form)).getSetCookie(), [REMOVAL])
  await leadsBack(t, at, (await logIn('/login')).get('location'), 'second')
})

t.test('https: a Secure cookie whose name no other host can set', async (t) => {
  const app = await startLogin(t, () => {}, { trustProxy: true })
  const https: Fetch = (target, init) =>
    injecting(app)(target, { ...init, headers: { ...init.headers, 'x-forwarded-proto': 'https' } })
  const { set, location, removed } = await walk(wire('', undefined, { fetch: https }))
  t.match(set, [/^__Host-partner-sso-return=%2Foauth\S+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/])
  t.strictSame(removed, ['__Host-partner-sso-return=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax'])
  await leadsBack(t, inProcess(app), location)
})

t.test('https that the login does not know of: Express that trusts no proxy, and a server of Node', async (t) => {
  const { app } = await startHost(t)
  const own = '/oauth/authorize?state=s'
  const request = (names: string[], more: object) =>
    ({ headers: { cookie: names.map((name) => `${name}=${encodeURIComponent(own)}`).join('; ') }, ...more })
  const both = ['__Host-partner-sso-return', 'partner-sso-return']
  const [secure, plain] = both as [string, string]
  const rows: Array<[read: string[], names: string[], more: object]> = [
    [[secure], both, { protocol: 'https' }],
    [both, both, { protocol: 'http' }],
    [[secure], both, { socket: { encrypted: true } }],
    [both, both, { socket: {} }],
    [[], [plain], { protocol: 'https' }]
  ]
  for (const [read, names, more] of rows) {
    const row = JSON.stringify([names, more])
    let removed: string[] = []
    const reply = { getHeader: () => removed, setHeader (_name: string, value: string[]) { removed = value } }
    t.equal(app.partnerSso.returnTo(request(names, more), reply), read.length === 0 ? null : own, row)
    t.strictSame(removed.map((line) => line.replace(/=.*/, '')), read, row)
  }
})

t.test('a login that began elsewhere in the app is not led to the portal', async (t) => {
  const at = inProcess(await startLogin(t))
  const { set } = await walk(at)
  const headers = { cookie: set.map(byCookie).join() }
  for (const elsewhere of ['/orders', '/oauth/authorize', '//oauth/authorize?a=b']) {
    const back = await at.send(`/login?return_to=${elsewhere}`, { method: 'POST', headers })
    const found = [back.headers.get('location'), back.headers.getSetCookie()]
    t.strictSame(found, ['/home', [REMOVAL]], `the cookie of an abandoned attempt is removed: ${elsewhere}`)
  }
  const empty = await at.send('/login?return_to=&a=b', { method: 'POST', headers })
  await leadsBack(t, at, empty.headers.get('location'))
})

t.test('the parameters of the endpoint, each as it was encoded, and no others', async (t) => {
  const at = inProcess(await startLogin(t))
  const redirectUri = 'https:%2F/portal.example/oauth/callback'
  const known = `client_id=partner-123&redirect_uri=${redirectUri}&response_type=c%6Fde&state=a+b%2f%20&scope=x`
  const { headers, redirect } = await at.send(`/oauth/authorize?client_secret=hush&x&${known}&state%5B%5D=hush&a=hush`)
  t.equal(redirect.get('return_to'), `/oauth/authorize?${known}`)
  t.equal(headers.getSetCookie().map(byCookie).join(),
    `partner-sso-return=${encodeURIComponent(`/oauth/authorize?${known}`)}`)
})

t.test('cookies of the host stay: @fastify/cookie, before and after ours', async (t) => {
  const app = await startLogin(t, async (app) => {
    await app.register(cookie, { secret: 'the secret of the cookies' })
    app.addHook('onRequest', async (_request, reply) => { reply.setCookie('early', '1', { signed: true }) })
    app.addHook('onSend', async (_request, reply) => { reply.setCookie('late', '2') })
    app.addHook('preHandler', async (_request, reply) => { reply.header('set-cookie', ['a=1', 'b=2']) })
  })
  const names = (lines: string[]) => lines.map((line) => line.replace(/=.*/, '')).sort()
  const { set, location, removed } = await walk(inProcess(app))
  const all = ['a', 'b', 'early', 'late', 'partner-sso-return']
  t.strictSame([names(set), names(removed)], [all, all])
  await leadsBack(t, inProcess(app), location)
})

t.test('@fastify/cookie is registered after the plugin', async (t) => {
  const { app } = await startHost(t, { loginPage: '/login' }, {
    async finish (app) {
      await app.register(cookie)
      app.addHook('onRequest', async (_request, reply) => { reply.setCookie('own', '1') })
      app.removeAllContentTypeParsers()
      addLogin(app)
    }
  })
  t.strictSame((await walk(inProcess(app))).removed.map(byCookie), ['partner-sso-return=', 'own=1'])
})

t.test('cookies of the host stay: those that middleware sets on the response of Node', async (t) => {
  const app = await startLogin(t, async (app) => {
    app.addHook('onRequest', async (_request, { raw }) => { raw.setHeader('Set-Cookie', ['a=1', 'b=2']) })
  })
  const { set, location, removed } = await walk(inProcess(app))
  t.strictSame(set.map(byCookie).slice(0, 2), ['a=1', 'b=2'])
  t.strictSame([set.length, removed], [3, ['a=1', 'b=2', REMOVAL]])
  await leadsBack(t, inProcess(app), location)
})

t.test('an Express app with the login, at a path', async (t) => {
  const path = '/partner'
  const { app: sso } = await startHost(t, { loginPage: `${path}/login` })
  const app = express()
  app.use(`${path}/oauth`, (request, response) => {
    request.url = `/oauth${request.url}`
    sso.routing(request, response)
  })
  app.post(`${path}/login`, (request, response) => {
    response.cookie('own', '1')
    response.redirect(303, path + String(sso.partnerSso.returnTo(request, response)))
  })
  const origin = await httpServer(t, app)
  const { location, removed } = await walk(wire(origin + path))
  t.strictSame(removed, ['own=1; Path=/', REMOVAL])
  await leadsBack(t, wire(origin), location)
  const { redirect } = await wire(origin + path).authorize({ state: 'in the URL' }, null)
  const back = await wire(origin + path).send(`/login?${redirect}`, { method: 'POST' })
  await leadsBack(t, wire(origin), back.headers.get('location'), 'in the URL')
})

t.test('a bare server of Node', async (t) => {
  const { app: sso } = await startHost(t, { loginPage: '/login' })
  const origin = await httpServer(t, (request, response) => {
    response.end(sso.partnerSso.returnTo(request, response) ?? 'none')
  })
  const { headers, redirect } = await inProcess(sso).authorize({}, null)
  const cookies = { cookie: headers.getSetCookie().map(byCookie).join() }
  const back = await wire(origin).send('/login', { headers: cookies })
  await leadsBack(t, inProcess(sso), back.text)
  t.strictSame(back.headers.getSetCookie(), [REMOVAL])
  await leadsBack(t, inProcess(sso), (await wire(origin).send(`/login?${redirect}`)).text)
  const reply = { getHeader: () => undefined, setHeader: () => t.fail('there is nothing to remove') }
  t.equal(sso.partnerSso.returnTo({ headers: {} }, reply), null, 'a request without a URL')
})

t.test('several registrations under one app, and a scope of its own', async (t) => {
  const { app } = await startHost(t, { loginPage: '/login', prefix: '/one/' }, {
    async finish (app) {
      await app.register(partnerSso<User>, hostOptions({ loginPage: '/login', prefix: '/a::b/é' }))
      addLogin(app)
    }
  })
  for (const prefix of ['/one', '/a:b/%C3%A9']) {
    const at = wire(prefix, undefined, { fetch: injecting(app) })
    const { set } = await walk(at)
    const headers = { cookie: set.map(byCookie).join() }
    const { headers: back } = await inProcess(app).send('/login', { method: 'POST', headers })
    t.match(back.get('location'), new RegExp(`^${prefix}/oauth/authorize\\?client_id=`), prefix)
    await leadsBack(t, inProcess(app), back.get('location'))
  }
})

t.test('slashes and case that the router ignores are not repeated', async (t) => {
  const { app } = await startHost(t, { loginPage: '/login' }, {
    server: routerOptions({ ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false })
  })
  const query = new URLSearchParams({
    client_id: 'partner-123', redirect_uri: 'https://portal.example/oauth/callback', response_type: 'code', state: 's'
  })
  const { headers } = await inProcess(app).send(`//OAuth/authorize/?${query}`)
  t.match(headers.getSetCookie(), [/^partner-sso-return=%2Foauth%2Fauthorize%3Fclient_id%3D/])
})
