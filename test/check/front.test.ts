// What stands in front of the app: processes in turn, caches, limits, https. Which rules fail?
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { Run } from '../../lib/check/run.ts'
import { atOnce } from '../../lib/check/verdict.ts'
import { byId, run, tryRule } from '../../lib/check/run.ts'
import type { SubjectOptions } from '../../lib/check/subject.ts'
import { Subject } from '../../lib/check/subject.ts'
import { createIntegration } from '../../lib/flow/integration.ts'
import { inProcess } from '../../lib/flow/transport.ts'
import type { Exchange, Send, WireRequest } from '../../lib/flow/wire.ts'
import type { PartnerSsoOptions } from '../../lib/index.ts'
import { hookAt, jsonAt, partnerApp, personOf, PORTAL, sessionOf, SETTINGS } from '../app.ts'

type Front = (request: WireRequest, app: Send) => Promise<Exchange>

const login = (user: string) => ({ login: { user } })
const USERS = { users: [login('ada'), login('bob')], ineligible: login('eve') }

/** A check of an app behind something, at this address. */
async function behind (
  front: Front, baseUrl = 'http://127.0.0.1', app: FastifyInstance = partnerApp(),
  users: Partial<SubjectOptions> = USERS
): Promise<Run> {
  const integration = createIntegration({ baseUrl, ...SETTINGS })
  const toApp = inProcess(app, 60_000)
  const send: Send = (request) => front(request, toApp)
  return run(new Subject({ ...integration, send }, { ...users, wait: async () => {} }))
}

const found = ({ rules, stopped }: Run): string[] => [
  ...rules.filter(({ outcome }) => outcome === 'fail').map(({ id }) => id),
  ...rules.filter(({ outcome }) => outcome === 'advice').map(({ id }) => `advice:${id}`),
  ...stopped === undefined ? [] : ['stopped']
]

const respond = (request: WireRequest, status: number, headers: Record<string, string> = {}, body = ''): Exchange =>
  ({ request, response: { status, headers: Object.entries(headers), body }, milliseconds: 1 })

/** Adds headers to what the app sends. */
const adding = (name: string, value: string): Front => async (request, app) => {
  const exchange = await app(request)
  const headers = [...exchange.response?.headers ?? [], [name, value] as const]
  return { ...exchange, response: { status: 0, body: '', ...exchange.response, headers } }
}

/** Keeps the first response of an address that is to be kept. */
const keeping = (isKept: (exchange: Exchange) => boolean, keyOf: (request: WireRequest) => string): Front => {
  const kept = new Map<string, Exchange>()
  return async (request, app) => {
    const key = keyOf(request)
    const exchange = { ...kept.get(key) ?? await app(request), request }
    if (isKept(exchange)) kept.set(key, exchange)
    return exchange
  }
}

/** Several apps, asked in turn. */
function inTurn (...apps: FastifyInstance[]): Front {
  const sends = apps.map((app) => inProcess(app, 60_000))
  let requests = 0
  return (request) => (sends[requests++ % sends.length] as Send)(request)
}

const limited = (after: number, retryAfter: string, path = '/oauth/authorize', times = Infinity): Front => {
  let requests = 0
  return (request, app) => {
    const isOver = request.url.includes(path) && ++requests > after && requests <= after + times
    return isOver ? Promise.resolve(respond(request, 429, { 'retry-after': retryAfter })) : app(request)
  }
}

const moved = (from: string, to: string): Front => async (request) =>
  respond(request, 301, { location: request.url.replace(from, to) })

/** Changes where the redirects to the portal lead. */
const relocated = (change: (location: URL) => void): Front => async (request, app) => {
  const exchange = await app(request)
  const headers = exchange.response?.headers.map(([name, value]) => {
    if (!value.startsWith(PORTAL.redirectUri)) return [name, value] as const
    const url = new URL(value)
    change(url)
    return [name, url.href] as const
  }) ?? []
  return { ...exchange, response: { status: 0, body: '', ...exchange.response, headers } }
}

/** Another app, behind a proxy that ends https. */
const terminating = (app: FastifyInstance): Front => {
  const toApp = inProcess(app, 60_000)
  return (request) => toApp({ ...request, headers: [...request.headers, ['X-Forwarded-Proto', 'https']] })
}

/** Who is logged in, whose session ends with that. */
const onceOnly: PartnerSsoOptions<string>['currentUser'] = (request, reply) => {
  reply.header('set-cookie', 'sid=; Path=/; Max-Age=0')
  return personOf(request)
}

const at = (path: string) => ({ request }: { request: WireRequest }): boolean => request.url.includes(path)
/** Lets requests for a token reach the app in this order, and each later one. */
const passing = (...passes: boolean[]): Front => {
  let requests = 0
  return async (request, app) => {
    const isStopped = request.url.endsWith('/oauth/token') && passes[requests++] === false
    return isStopped ? respond(request, 403) : app(request)
  }
}
const withoutPlugin = (): FastifyInstance => partnerApp(hookAt('/oauth', 404, { error: 'Not Found' }))

/** Replaces the refusals of the portal's server by pages. */
const withPages: Front = async (request, app) => {
  const exchange = await app(request)
  const { status = 0 } = exchange.response ?? {}
  return status < 400 || !request.url.includes('/oauth/') || request.url.includes('authorize')
    ? exchange
    : respond(request, status, { 'content-type': 'text/html' }, '<title>Error</title>')
}

/** Redirects a request to its own address, with a question that a browser would answer. */
const challenging = (path: string): Front => async (request, app) =>
  request.url.endsWith(path) ? respond(request, 307, { location: `${request.url}?challenge=1` }) : app(request)

const ROWS: Array<[name: string, front: Front, expected: string[], baseUrl?: string]> = [
  ['nothing', (request, app) => app(request), []],
  ['one of three without the plugin', inTurn(partnerApp(), partnerApp(), withoutPlugin()), ['service.one-store']],
  ['X-Cache: HIT', adding('X-Cache', 'HIT from edge'), ['authorize.hook']],
  ['Age', adding('Age', '7'), ['authorize.hook']],
  ['Age: 0, of a response that no cache kept', adding('Age', '0'), []],
  ['redirects kept by path', keeping(({ response }) => response?.status === 302,
    ({ url, headers }) => url.split('?')[0] + JSON.stringify(headers.filter(([name]) => name === 'Cookie'))),
  ['authorize.registered']],
  ['tokens kept by URL', keeping((exchange) => at('/oauth/token')(exchange) && exchange.response?.status === 200,
    ({ url }) => url), ['user.other-user']],
  ['tokens kept by form', keeping((exchange) => at('/oauth/token')(exchange) && exchange.response?.status === 200,
    ({ body }) => String(body)), ['token.replay-revokes']],
  ['refusals of user kept by URL',
    keeping((exchange) => at('/oauth/user')(exchange) && exchange.response?.status === 401, ({ url }) => url),
    ['user.record']],
  ['a limit that is met once', limited(20, '1', '/oauth', 1), []],
  ['a limit without Retry-After', limited(3, ''), ['stopped']],
  ['a limit far above', limited(30, '3600'), ['stopped']],
  ['a limit at once that passes later than it says', limited(0, '5'), ['stopped']],
  ['a limit of logins', limited(7, '60', '/login'), []],
  ['a limit of logins that is met at once', limited(0, '60', '/login'), ['stopped']],
  ['http of a public name', (request, app) => app(request), ['address.https'], 'http://partner.example'],
  ['http of a private name', (request, app) => app(request), ['advice:address.https'], 'http://app.internal'],
  ['a redirect to https', moved('http:', 'https:'), ['address.https'], 'http://partner.example'],
  ['from https back to http', moved('https:', 'http:'), ['address.https'], 'https://partner.example'],
  ['Location: a slash', relocated((url) => { url.pathname += '/' }), ['authorize.code']],
  ['Location: a parameter', relocated((url) => { url.searchParams.append('utm', '1') }), ['authorize.code']],
  ['a process without the token endpoint, met at the second request', passing(true, false, true),
    ['service.one-store']],
  ['met at the third', passing(true, true, false), ['service.one-store']],
  ['met at both', passing(true, false, false, true), ['service.one-store']],
  ['met at the first', passing(false, true, true, true), ['service.one-store']],
  ['a firewall that refuses a form without credentials', passing(true, false, false, false), []],
  ['from https to a login by http', inTurn(partnerApp({ options: { loginPage: 'http://login.partner.example/' } })),
    ['address.https', 'stopped'], 'https://partner.example'],
  ['POST refused', (request, app) => request.method === 'POST' && request.url.includes('/oauth')
    ? Promise.resolve(respond(request, 405))
    : app(request), ['token.hook']],
  ['the path is cut', async (request, app) =>
    ({ ...await app({ ...request, url: request.url.replace('/oauth/token', '/token') }), request }), ['token.hook']],
  ['a path that is not passed on', async (request, app) =>
    request.url.endsWith('/oauth/user') ? respond(request, 404) : app(request), ['user.hook']],
  ['the query is decoded', (request, app) =>
    app({ ...request, url: request.url.replace(/%(?:2[0-9A-F]|3[A-F]|7E)/g, decodeURIComponent) }),
  ['authorize.state']],
  ['a plus in the query is decoded', (request, app) =>
    app({ ...request, url: request.url.replace(/%2B/g, '+') }), ['authorize.state']],
  ['a header that nobody knows is taken away', async (request, app) => {
    const exchange = await app(request)
    const headers = exchange.response?.headers.filter(([name]) => name !== 'partner-sso') ?? []
    return { ...exchange, response: { status: 0, body: '', ...exchange.response, headers } }
  }, []],
  ['refusals are replaced by pages', withPages, ['advice:service.refusals']],
  ['a protection against bots at token', challenging('/oauth/token'), ['token.hook']],
  ['a protection against bots at user', challenging('/oauth/user'), ['user.hook']],
  ['each refusal is replaced by 401, as by a guard, and nobody gets in', async (request, app) =>
    request.url.includes('/oauth/token') ? respond(request, 401) : app(request), ['token.hook']],
  ['the state is dropped', (request, app) => app({ ...request, url: request.url.replace(/&state=[^&]*/, '') }),
    ['authorize.state']],
  ['Authorization is dropped', (request, app) =>
    app({ ...request, headers: request.headers.filter(([name]) => name !== 'Authorization') }), ['user.hook']],
  ['a firewall', async (request) => respond(request, 403), ['authorize.hook']],
  ['a long state is refused', async (request, app) => request.url.length > 1500 ? respond(request, 414) : app(request),
    ['authorize.state']],
  ['https', (request, app) => app(request), ['advice:login.cookie'], 'https://partner.example'],
  ['https, where the return cookie has its name for https, and a session that serves one sign-in',
    terminating(partnerApp({ server: { trustProxy: true }, options: { currentUser: onceOnly } })),
    [], 'https://partner.example'],
  ['a login page that only a private network has',
    inTurn(partnerApp({ options: { loginPage: 'https://app.internal/login' } })),
    ['login.page'], 'https://partner.example'],
  ['the method is changed', (request, app) =>
    app(request.url.endsWith('/oauth/user') ? { ...request, method: 'POST' } : request), ['user.hook']]
]

for (const [name, front, expected, baseUrl] of ROWS) {
  t.test(name, async (t) => t.strictSame(found(await behind(front, baseUrl)), expected))
}

t.test('a rule that cannot be told by itself passes where a later one passes, or breaks nothing', async (t) => {
  for (const [more, proof] of [[{}, 'pass'], [{ more: 1 }, 'advice']] as const) {
    const { rules } = await behind(withPages, undefined, partnerApp(jsonAt('/oauth/user', more)))
    const outcomes = ['user.hook', 'user.record'].map((id) => rules.find((rule) => rule.id === id)?.outcome)
    t.strictSame(outcomes, ['pass', proof], proof)
  }
})

t.test('a process with other settings is named by its refusal, whichever process is asked first', async (t) => {
  for (const at of [0, 1, 2]) {
    const ofOthers = { options: { portal: { ...PORTAL, clientId: 'other' } } }
    const { rules } = await behind(inTurn(...[0, 1, 2].map((one) => partnerApp(one === at ? ofOthers : {}))))
    t.match(rules.find(({ id }) => id === 'service.one-store'), {
      outcome: 'fail', reason: 'client_id_unknown', got: /different responses: GET \/oauth\/authorize: 400/
    }, `process ${at + 1} of 3`)
  }
})

t.test('an endpoint that is gone after some requests', async (t) => {
  for (let passed = 6; passed < 14; passed++) {
    let requests = 0
    const run = await behind(async (request, app) =>
      request.url.endsWith('/oauth/token') && ++requests > passed ? respond(request, 403) : app(request))
    t.strictSame(found(run), ['token.hook'], `after ${passed}`)
  }
})

t.test('a session that one request in between does not find', async (t) => {
  let requests = 0
  const forgetful: Front = (request, app) => {
    const isForgotten = request.headers.some(([, value]) => value.includes('sid=')) && ++requests === 4
    return app(isForgotten ? { ...request, headers: request.headers.filter(([name]) => name !== 'Cookie') } : request)
  }
  const run = await behind(forgetful, undefined, undefined, { users: [{ cookies: sessionOf('ada') }] })
  t.strictSame(found(run), ['service.one-store'])
})

t.test('a cookie that was given and is not sent: because it is Secure, or of another path', async (t) => {
  const given = [['sid=x; Secure', /: it has Path=\/ and Secure$/], ['sid=x; Path=/app', /Path=\/app$/]] as const
  for (const [cookies, got] of given) {
    const run = await behind((request, app) => app(request), 'http://partner.example', partnerApp(), {
      users: [{ cookies }]
    })
    t.match(run.rules.find(({ id }) => id === 'login.cookie'), { outcome: 'fail', got }, cookies)
  }
})

t.test('a rule that is tried alone, without a user, behind a guard', async (t) => {
  const guard = hookAt('/oauth/authorize', 302, {})
  const integration = createIntegration({ app: partnerApp(guard), ...SETTINGS })
  for (const id of ['authorize.state', 'login.return', 'login.cookie', 'user.other-user', 'token.replay-revokes']) {
    const finding = await tryRule(new Subject(integration), byId(id))
    t.match(finding, { id, outcome: 'untested', reason: /^it needs a user who may enter/ }, id)
  }
})

t.test('of calls at once the first failure counts, after the others have ended', async (t) => {
  let isEnded = false
  const slow = setImmediate().then(() => { isEnded = true })
  await t.rejects(atOnce([slow, Promise.reject(new Error('the first'))]), { message: 'the first' })
  t.ok(isEnded)
})

t.test('a request that gets no response: once it is tried again, then the rule fails, or the check ends', async (t) => {
  const hungUp = (request: WireRequest): Exchange =>
    ({ request, networkError: { code: 'hung_up', sentence: 'It hung up.' }, milliseconds: 1 })
  const long = await behind(async (request, app) => request.url.length > 1500 ? hungUp(request) : app(request))
  t.strictSame(found(long), ['authorize.state'])
  let isFirst = true
  const once = await behind(async (request, app) => {
    if (!isFirst || !request.url.endsWith('/oauth/user')) return app(request)
    isFirst = false
    return hungUp(request)
  })
  t.strictSame(found(once), [])
  const isForm = ({ method, url }: WireRequest): boolean => method === 'POST' && url.includes('/oauth')
  const cut = await behind(async (request, app) => isForm(request) ? hungUp(request) : app(request))
  t.strictSame(found(cut), ['token.hook'])
  let left = 40
  const silent = await behind(async (request, app) => left-- > 0 ? app(request) : hungUp(request))
  t.strictSame(found(silent), ['stopped'])
  const timeout = { code: 'timeout', sentence: 'Too late.' } as const
  const read = await behind(async (request, app) =>
    isForm(request) ? { request, networkError: timeout, milliseconds: 1 } : app(request))
  t.strictSame(found(read), ['token.hook'])
  t.match(read.rules.find(({ id }) => id === 'token.hook'), { got: 'Too late', fix: 'body parsers' })
})
