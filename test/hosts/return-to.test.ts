// `app.partnerSso.returnTo()`: from the login back to the authorization request, in hosts of all kinds. What a browser
// may forge: test/attacks/return-cookie.
import cookie from '@fastify/cookie'
import express from 'express'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import partnerSso from '../../lib/index.ts'
import { routerOptions } from '../helpers/fastify.ts'
import { pluginOptions, sessionOf, startApp } from '../app.ts'
import type { Change } from '../app.ts'
import { httpServer } from '../helpers/listen.ts'
import { inProcess, wire } from '../wire.ts'
import type { Wire, WireResponse } from '../wire.ts'

const REMOVAL = 'partner-sso-return=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'
/** A state that a library would change which decodes or encodes it. */
const STATE = '%E9;,%22%252F+%20'

/** A login that goes back to the authorization request, or to /home. */
const loginPage: NonNullable<Change['loginPage']> = (request, reply) =>
  reply.redirect(request.server.partnerSso.returnTo(request, reply) ?? '/home')

async function startLogin (
  t: Test, prepare: (app: FastifyInstance) => unknown = () => {}, server: FastifyServerOptions = {}
): Promise<Wire> {
  const { app } = await startApp(t, { server, prepare, loginPage })
  return inProcess(app)
}

/** Sent to the login. */
const begin = (at: Wire, state = STATE, headers: Record<string, string> = {}): Promise<WireResponse> =>
  at.authorize({ state: undefined }, null, headers, `&state=${state}`)

const setBy = ({ headers }: WireResponse): string[] => headers.getSetCookie()

/** The cookies that a response sets, as the browser sends them. */
const cookiesOf = (response: WireResponse) =>
  ({ cookie: setBy(response).map((line) => line.replace(/;.*/, '')).join('; ') })

const locationOf = ({ headers }: WireResponse): string => String(headers.get('location'))

/** The response of the login after the authorization request, which set the cookies. */
async function walk (at: Wire, login = at): Promise<WireResponse> {
  return await login.send('/login', { headers: cookiesOf(await begin(at)) })
}

/** The location leads to a code, with the state as it was. */
async function leadsBack (t: Test, at: Wire, location: string, state = STATE): Promise<void> {
  const back = await at.send(location, { headers: { cookie: sessionOf('ada') } })
  t.match(locationOf(back), /\?code=/, location)
  t.equal(locationOf(back).replace(/.*&state=/, ''), state, location)
}

t.test('a cookie for ten minutes leads back, once', async (t) => {
  const at = await startLogin(t)
  const set = setBy(await begin(at))
  t.match(set, [/^partner-sso-return=%2Foauth%2Fauthorize%3F\S+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/])
  t.equal(set.length, 1)
  const back = await walk(at)
  t.strictSame(setBy(back), [REMOVAL])
  await leadsBack(t, at, locationOf(back))
  const direct = await at.send('/login')
  t.strictSame([locationOf(direct), setBy(direct)], ['/home', []], 'a login by itself')
})

t.test('a request that is served is forgotten, by whatever way it came back', async (t) => {
  const at = await startLogin(t)
  t.strictSame(setBy(await at.authorize({}, 'ada', cookiesOf(await begin(at)))), [REMOVAL])
  t.strictSame(setBy(await at.authorize()), [])
})

t.test('return_to comes first, the cookie is removed in each case', async (t) => {
  const at = await startLogin(t, () => {}, { rewriteUrl: ({ url = '' }) => url.replace(/^(\/login)\?.*/, '$1') })
  const first = await begin(at, 'first')
  const headers = cookiesOf(await begin(at, 'second'))
  const logIn = async (query: string): Promise<string> => {
    const back = await at.send(`/login?${query}`, { headers })
    t.strictSame(setBy(back), [REMOVAL], query)
    return locationOf(back)
  }
  await leadsBack(t, at, await logIn(String(first.redirect)), 'first')
  await leadsBack(t, at, await logIn('return_to=&a=b'), 'second')
  t.equal(await logIn('return_to=/orders'), '/home', 'a login that began elsewhere in the app')
})

t.test('https: a Secure cookie whose name no other host can set', async (t) => {
  const at = await startLogin(t, () => {}, { trustProxy: true })
  const https = { 'x-forwarded-proto': 'https' }
  const sent = await begin(at, STATE, https)
  t.match(setBy(sent), [
    /^__Host-partner-sso-return=%2Foauth\S+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/
  ])
  const back = await at.send('/login', { headers: { ...https, ...cookiesOf(sent) } })
  t.strictSame(setBy(back), ['__Host-partner-sso-return=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax'])
  await leadsBack(t, at, locationOf(back))
})

t.test('https that the login does not know of: Express that trusts no proxy, and a server of Node', async (t) => {
  const { app } = await startApp(t)
  const [secure, plain] = ['__Host-partner-sso-return', 'partner-sso-return']
  const headers = { cookie: `${secure}=%2Foauth%2Fauthorize%3Fa; ${plain}=%2Foauth%2Fauthorize%3Fb` }
  const removals = {
    [secure]: `${secure}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`,
    [plain]: `${plain}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`
  }
  const rows: Array<[read: string[], of: object]> = [
    [[secure], { protocol: 'https' }],
    [[secure, plain], { protocol: 'http' }],
    [[secure], { socket: { encrypted: true } }]
  ]
  for (const [read, of] of rows) {
    let removed: string[] = []
    const reply = {
      getHeader: () => removed,
      setHeader (_name: string, value: string[]) { removed = value }
    }
    t.equal(app.partnerSso.returnTo({ headers, ...of }, reply), '/oauth/authorize?a', JSON.stringify(of))
    t.strictSame(removed, read.map((name) => removals[name]), JSON.stringify(of))
  }
})

t.test('the parameters of the endpoint, each as it was encoded, and no others', async (t) => {
  const at = await startLogin(t)
  const redirectUri = 'https:%2F/portal.example/oauth/callback'
  const known = `client_id=partner-123&redirect_uri=${redirectUri}&response_type=c%6Fde&state=a+b%2f%20&scope=x`
  const sent = await at.send(`/oauth/authorize?client_secret=hush&x&${known}&state%5B%5D=hush&a=hush`)
  const returnTo = `/oauth/authorize?${known}`
  t.equal(sent.redirect.get('return_to'), returnTo)
  t.equal(cookiesOf(sent).cookie, `partner-sso-return=${encodeURIComponent(returnTo)}`)
})

/** Hosts that set cookies of their own, and the names of these. */
const cookieHosts: Record<string, [own: string[], prepare: (app: FastifyInstance) => unknown]> = {
  '@fastify/cookie, before and after ours': [['a', 'b', 'early', 'late'], async (app) => {
    await app.register(cookie, { secret: 'the secret of the cookies' })
    app.addHook('onRequest', async (_request, reply) => {
      reply.setCookie('early', '1', { signed: true })
    })
    app.addHook('onSend', async (_request, reply) => {
      reply.setCookie('late', '2')
    })
    app.addHook('preHandler', async (_request, reply) => {
      reply.header('set-cookie', ['a=1', 'b=2'])
    })
  }],
  'middleware, on the response of Node': [['a', 'b'], async (app) => {
    app.addHook('onRequest', async (_request, { raw }) => {
      raw.setHeader('Set-Cookie', ['a=1', 'b=2'])
    })
  }]
}

for (const [name, [own, prepare]] of Object.entries(cookieHosts)) {
  t.test(`cookies of the host stay: ${name}`, async (t) => {
    const at = await startLogin(t, prepare)
    const back = await walk(at)
    for (const response of [await begin(at), back]) {
      const names = setBy(response).map((line) => line.replace(/=.*/, '')).sort()
      t.strictSame(names, [...own, 'partner-sso-return'], response.request)
    }
    await leadsBack(t, at, locationOf(back))
  })
}

t.test('@fastify/cookie is registered after the plugin', async (t) => {
  const { app } = await startApp(t, {
    async finish (app) {
      await app.register(cookie)
      app.addHook('onRequest', async (_request, reply) => { reply.setCookie('own', '1') })
    },
    loginPage
  })
  t.equal(cookiesOf(await walk(inProcess(app))).cookie, 'partner-sso-return=; own=1')
})

t.test('an Express app with the login, at a path', async (t) => {
  const path = '/partner'
  const { app: sso } = await startApp(t, { options: { loginPage: `${path}/login` } })
  const app = express()
  app.use(`${path}/oauth`, (request, response) => {
    request.url = `/oauth${request.url}`
    sso.routing(request, response)
  })
  app.get(`${path}/login`, (request, response) => {
    response.cookie('own', '1')
    response.redirect(path + String(sso.partnerSso.returnTo(request, response)))
  })
  const origin = await httpServer(t, app)
  const back = await walk(wire(origin + path))
  t.strictSame(setBy(back), ['own=1; Path=/', REMOVAL])
  await leadsBack(t, wire(origin), locationOf(back))
})

t.test('a bare server of Node', async (t) => {
  const { app: sso } = await startApp(t)
  const login = wire(await httpServer(t, (request, response) => {
    response.end(sso.partnerSso.returnTo(request, response) ?? 'none')
  }))
  const at = inProcess(sso)
  const back = await walk(at, login)
  t.strictSame(setBy(back), [REMOVAL])
  await leadsBack(t, at, back.text)
  await leadsBack(t, at, (await login.send(`/login?${(await begin(at)).redirect}`)).text)
  const reply = {
    getHeader: () => undefined,
    setHeader: () => t.fail('there is nothing to remove')
  }
  t.equal(sso.partnerSso.returnTo({ headers: {} }, reply), null, 'a request without a URL')
})

t.test('several registrations under one app', async (t) => {
  const { app } = await startApp(t, {
    options: { prefix: '/one/' },
    finish: (app) => app.register(partnerSso<string>, pluginOptions({ prefix: '/a::b/é' })),
    loginPage
  })
  for (const prefix of ['/one', '/a:b/%C3%A9']) {
    const location = locationOf(await walk(inProcess(app, prefix), inProcess(app)))
    t.ok(location.startsWith(`${prefix}/oauth/authorize?client_id=`), prefix)
    await leadsBack(t, inProcess(app), location)
    const headers = cookiesOf(await begin(inProcess(app, prefix)))
    const back = await inProcess(app).send(`/login?${(await begin(inProcess(app, '/one'))).redirect}`, { headers })
    t.strictSame(setBy(back), [REMOVAL], prefix)
  }
})

t.test('slashes and case that the router ignores are not repeated', async (t) => {
  const router = { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false }
  const at = await startLogin(t, () => {}, routerOptions(router))
  const returnTo = String((await begin(at)).redirect.get('return_to'))
  const { redirect } = await at.send(returnTo.replace('/oauth/authorize', '//OAuth/authorize/'))
  t.equal(redirect.get('return_to'), returnTo)
})
