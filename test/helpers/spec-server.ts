import { randomBytes } from 'node:crypto'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Mistake } from '../simulator/mistakes.test.ts'
import { httpServer } from './raw-server.ts'

export const CLIENT_ID = 'partner-123'
export const CLIENT_SECRET = 'a secret/of+the portal:äé'
export const REDIRECT_URI = 'http://localhost:4180/oauth/callback'
/** What the portal is given, with more time than the default: a busy machine may need it. */
export const SETTINGS = {
  clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUri: REDIRECT_URI, timeout: 60_000
}

export interface SpecServer {
  app: FastifyInstance
  /** `sid=…` of a user who may enter. */
  cookie: string
  /** `sid=…` of a user who may not. */
  ineligible: string
}

interface Grant { user: string, redirectUri: string, challenge?: string | undefined, expires: number, token?: string }
interface Teardown { teardown (done: () => unknown): unknown }
type Values = Record<string, string | string[] | undefined>

export const RECORDS: Record<string, Record<string, unknown>> = {
  ada: {
    external_id: 'u-1',
    email: 'ada@partner.example',
    name: 'Ada Lovelace',
    type: 'partner',
    control_role: 'Partner Administrator',
    product_role: 'Product Operator'
  },
  bob: {
    external_id: 'u-2',
    email: 'bob@partner.example',
    name: 'Bob <b>Client</b>',
    type: 'client',
    client_id: 42,
    client_name: 'Acme',
    control_role: 'Client Read Only',
    product_role: 'Product Read Only'
  }
}

interface ServerOptions {
  /** What the server does wrong; without any it keeps the specification and the RFCs. */
  mistakes?: Mistake[]
  prefix?: string
  /** Seconds that a code is valid. */
  lifetime?: number
  /** The registered redirect_uri. */
  redirectUri?: string
  /** The source of the login page after its title. */
  loginPage?: string
  /** The time in milliseconds. Default: `Date.now`. */
  now?: () => number
}

/** A small server that was written from spec.md alone: the portal, the simulator and the checker are tested with it. */
export async function specServer (options: ServerOptions = {}): Promise<SpecServer> {
  const { mistakes = [], prefix = '', lifetime = 60, now = Date.now } = options
  const { redirectUri: registered = REDIRECT_URI } = options
  const makes = (mistake: Mistake): boolean => mistakes.includes(mistake)
  const codes = new Map<string, Grant>()
  const used = new Map<string, Grant>()
  const tokens = new Map<string, string>()
  const app = Fastify({ exposeHeadRoutes: makes('head-twins') })
  await app.register(formbody, { parser: (body) => Object.fromEntries(grouped(new URLSearchParams(body))) })
  if (!makes('json-body')) app.removeContentTypeParser('application/json')

  const user = ({ headers }: FastifyRequest): string | undefined => {
    const name = String(/sid=(\w+)/.exec(`${headers['x-session']} ${headers.cookie}`)?.[1])
    return name in RECORDS || name === 'eve' ? name : undefined
  }
  const random = (): string => randomBytes(32).toString('base64url')
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

  app.addHook('onRequest', async (request, reply) => {
    const open = request.url.startsWith(`${prefix}/login`) || request.url.startsWith(`${prefix}/oauth/authorize`)
    const unauthorized = { statusCode: 401, error: 'Unauthorized', message: 'Log in first' }
    const atUser = request.url.startsWith(`${prefix}/oauth/user`)
    const anonymous = user(request) === undefined
    const hooked = makes('auth-hook') || (makes('user-hook') && atUser)
    if (makes('authorize-hook') || (makes('login-hook') && anonymous)) return reply.code(401).send(unauthorized)
    if (hooked && !open && anonymous) return reply.code(401).send(unauthorized)
    if (makes('auth-hook-redirects') && !open && anonymous) return reply.redirect('/login', 302)
    const missing = { error: 'Forbidden', message: 'Missing csrf secret' }
    const csrf = { statusCode: 403, code: 'FST_CSRF_MISSING_SECRET', ...missing }
    if (makes('csrf-hook') && request.method === 'POST' && !open) return reply.code(403).send(csrf)
    if (makes('spa') && !open) return reply.type('text/html').send('<!doctype html><title>Partner</title>')
    return undefined
  })
  app.addHook('onSend', async (request, reply) => {
    if (!request.url.startsWith(`${prefix}/oauth/`)) return
    if (!makes('cacheable')) reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
    if (!makes('framable')) {
      reply.headers({ 'X-Frame-Options': 'DENY', 'Content-Security-Policy': "frame-ancestors 'none'" })
    }
    if (!makes('referrer')) reply.header('Referrer-Policy', 'no-referrer')
  })

  const fault = (reply: FastifyReply, status: number, error: string) => makes('plain-errors')
    ? reply.code(status).type('text/plain').send('no')
    : reply.code(status).send({ error, error_description: 'Refused.' })
  const back = (reply: FastifyReply, to: string, parameters: Record<string, string>) => {
    const url = new URL(to)
    for (const [name, value] of Object.entries(parameters)) url.searchParams.append(name, value)
    return reply.redirect(url.href, 302)
  }

  app.get(`${prefix}/oauth/authorize`, async (request, reply) => {
    const all = parametersOf(request)
    const one = (name: string): string | undefined => [all[name]].flat()[0] || undefined
    const repeated = !makes('repeated-parameters') && Object.values(all).some((value) => Array.isArray(value))
    const to = one('redirect_uri') ?? ''
    const known = makes('any-redirect-uri') || to === registered
    const client = one('client_id')
    const knownClient = client === CLIENT_ID || (client !== undefined && makes('any-client'))
    if (!knownClient || !known || [all.client_id, all.redirect_uri].some((value) => Array.isArray(value) && repeated)) {
      if (makes('unknown-client-500')) return reply.code(500).send({ error: 'server_error' })
      const said = makes('echo') ? client : 'Wrong client or redirect_uri.'
      return reply.code(400).type('text/html').send(`<!doctype html><title>Not possible</title><p>${said}</p>`)
    }
    const state = one('state')
    const echoed = makes('state-changed') ? state?.toLowerCase() : state
    const echo = makes('state-lost') || echoed === undefined ? {} : { state: echoed }
    if (repeated || (state === undefined && !makes('state-optional'))) {
      return back(reply, to, { error: 'invalid_request', ...echo })
    }
    const type = one('response_type')
    if (type !== 'code' && !makes('any-response-type')) {
      const error = type === undefined ? 'invalid_request' : 'unsupported_response_type'
      return back(reply, to, { error, ...echo })
    }
    if (one('code_challenge') !== undefined && one('code_challenge_method') !== 'S256') {
      return back(reply, to, { error: 'invalid_request', ...echo })
    }
    const who = user(request) ?? (makes('no-login-check') ? 'ada' : undefined)
    if (who === undefined) return reply.redirect(loginFor(request), 302)
    if (who === 'eve' && makes('refusal-without-redirect')) return reply.code(403).send({ error: 'access_denied' })
    if (who === 'eve' && !makes('everyone-eligible')) {
      return back(reply, to, { error: 'access_denied', error_description: 'Not eligible.', ...echo })
    }
    const code = random()
    const expires = now() + lifetime * 1000
    codes.set(code, { user: who, redirectUri: to, challenge: one('code_challenge'), expires })
    return back(reply, to, { code, ...echo })
  })

  const loginFor = (request: FastifyRequest): string => {
    if (makes('login-loop')) return request.url
    if (makes('login-elsewhere')) return 'https://login.partner.example/'
    const returnTo = makes('login-loses-prefix') ? request.url.replace(prefix, '') : request.url
    const query = makes('login-forgets') ? '' : `?return_to=${encodeURIComponent(returnTo)}`
    return `${prefix}/login${query}`
  }
  app.get(`${prefix}/login`, async (_request, reply) => {
    const broken = { statusCode: 500, error: 'Internal Server Error', message: 'view not found' }
    if (makes('login-broken')) return reply.code(500).send(broken)
    if (makes('login-404')) return reply.callNotFound()
    if (!makes('framable')) reply.header('X-Frame-Options', 'DENY')
    if (makes('login-csp')) reply.header('Content-Security-Policy', "default-src 'self';form-action 'self'")
    const form = '<form method=post><label>User <input name=user></label><button>Log in</button></form>'
    return reply.type('text/html').send(`<!doctype html><title>Log in</title>${options.loginPage ?? form}`)
  })
  app.post(`${prefix}/login`, async (request, reply) => {
    const { user: name = 'ada' } = request.body as { user?: string }
    reply.header('Set-Cookie', `sid=${name}; Path=/; HttpOnly; SameSite=${makes('strict-cookie') ? 'Strict' : 'Lax'}`)
    return reply.redirect((request.query as { return_to?: string }).return_to ?? `${prefix}/`, 303)
  })

  app.post(`${prefix}/oauth/token`, async (request, reply) => {
    const url = makes('url-credentials') ? parametersOf(request) : {}
    const form = makes('body-read') ? {} : { ...url, ...(request.body as Values | undefined) }
    const one = (name: string): string | undefined => [form[name]].flat()[0] || undefined
    const needed = makes('optional-parameters') ? ['code'] : ['grant_type', 'code', 'redirect_uri']
    if (needed.some((name) => one(name) === undefined)) return fault(reply, 400, 'invalid_request')
    if (Object.values(form).some((value) => Array.isArray(value)) && !makes('repeated-parameters')) {
      return fault(reply, 400, 'invalid_request')
    }
    const grantType = one('grant_type') ?? (makes('optional-parameters') ? 'authorization_code' : undefined)
    if (grantType !== 'authorization_code' && !makes('any-grant')) return fault(reply, 400, 'unsupported_grant_type')
    const code = one('code') as string
    if (makes('burns-code') && credentials(request, form)?.secret !== CLIENT_SECRET) codes.delete(code)
    const caller = credentials(request, form)
    const basic = request.headers.authorization !== undefined
    const wrong = caller === null || (caller.id !== CLIENT_ID && !makes('any-token-client')) ||
      (caller.secret !== CLIENT_SECRET && !makes('any-secret'))
    if (wrong || (basic && makes('no-basic'))) {
      return fault(reply.header('WWW-Authenticate', 'Basic realm="spec"'), 401, 'invalid_client')
    }
    const anyRedirectUri = makes('any-token-redirect') || makes('optional-parameters')
    if (one('redirect_uri') !== registered && !anyRedirectUri) return fault(reply, 400, 'invalid_grant')
    const madeUp: Grant = { user: 'ada', redirectUri: registered, expires: Infinity }
    const accepted = makes('any-code') || (makes('token-is-code') && tokens.has(code))
    const grant = codes.get(code) ?? (accepted ? madeUp : undefined)
    if (grant === undefined) {
      const replayed = used.get(code)
      if (replayed?.token !== undefined && !makes('replay-leaves-token')) tokens.delete(replayed.token)
      return fault(reply, 400, 'invalid_grant')
    }
    if (makes('racy-code')) await pause()
    if (!makes('reusable-code')) codes.delete(code)
    const verifier = one('code_verifier')
    const challenge = verifier === undefined ? undefined : await challenged(verifier)
    const isShort = verifier !== undefined && verifier.length < 43
    const verified = (grant.challenge === challenge && !isShort) ||
      (verifier === undefined ? makes('pkce-optional-verifier') : makes('pkce-any-verifier'))
    if (!verified) return fault(reply, 400, 'invalid_grant')
    if (grant.expires < now() && !makes('code-never-expires')) return fault(reply, 400, 'invalid_grant')
    const token = random()
    tokens.set(token, grant.user)
    used.set(code, { ...grant, token })
    if (makes('html-token')) return reply.type('text/html').send('<!doctype html><title>Welcome</title>')
    const issued = { token_type: makes('lower-bearer') ? 'bearer' : 'Bearer', access_token: token }
    return makes('text-token') ? reply.type('text/plain').send(JSON.stringify(issued)) : reply.send(issued)
  })

  app.get(`${prefix}/oauth/user`, async (request, reply) => {
    if (makes('user-404')) return reply.callNotFound()
    const scheme = makes('case-scheme') ? /^Bearer (.+)$/ : /^bearer (.+)$/i
    const query = makes('query-token') ? (request.query as { access_token?: string }).access_token : undefined
    const token = scheme.exec(request.headers.authorization ?? '')?.[1] ?? query
    const session = makes('session-is-token') ? user(request) : undefined
    const free = session ?? (makes('no-token-needed') ? 'ada' : undefined)
    if (token === undefined && free !== undefined) return reply.send(RECORDS[free])
    if (token === undefined) {
      return fault(reply.header('WWW-Authenticate', 'Bearer realm="spec"'), 401, 'invalid_token')
    }
    const ofCode = makes('code-is-token') ? codes.get(token)?.user : undefined
    const who = tokens.get(token) ?? (makes('any-token') ? 'ada' : ofCode)
    if (makes('racy-token')) await pause()
    if (!makes('reusable-token')) tokens.delete(token)
    if (who === undefined) {
      reply.header('WWW-Authenticate', 'Bearer realm="spec", error="invalid_token"')
      const email = { error: 'invalid_token', error_description: 'Not for ada@partner.example.' }
      if (makes('email-in-refusal')) return reply.code(401).send(email)
      return fault(reply, 401, 'invalid_token')
    }
    const record = { ...(RECORDS[who] ?? RECORDS.ada) }
    if (makes('wrong-role')) record.control_role = 'Administrator'
    if (makes('extra-fields')) record.password_hash = '$2b$10$'
    return reply.send(record)
  })

  return { app, cookie: 'sid=ada', ineligible: 'sid=eve' }
}

/** The server on a port of its own; closed with the test. */
export async function listening (t: Teardown, options: ServerOptions = {}): Promise<SpecServer & { baseUrl: string }> {
  const server = await specServer(options)
  t.teardown(() => server.app.close())
  const origin = await server.app.listen({ port: 0, host: '127.0.0.1' })
  return { ...server, baseUrl: `${origin}${options.prefix ?? ''}` }
}

/** Responds with this body; an object is sent as JSON. */
export function respond (
  response: ServerResponse, status: number, body: string | object = '', headers: OutgoingHttpHeaders = {}
): unknown {
  if (typeof body === 'string') return response.writeHead(status, headers).end(body)
  return response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** A service that responds so to each request. */
export const responding = (
  t: Teardown, status: number, body?: string | object, headers?: OutgoingHttpHeaders
): Promise<string> => httpServer(t, (_request, response) => respond(response, status, body, headers))

/** A service that sends each browser back with `the-code`, and responds to the portal as given. */
export const sendingBack = (
  t: Teardown, toPortal: (path: string, response: ServerResponse) => unknown
): Promise<string> => httpServer(t, ({ url = '' }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://x')
  if (pathname !== '/oauth/authorize') return toPortal(pathname, response)
  const query = new URLSearchParams({ code: 'the-code', state: String(searchParams.get('state')) })
  return respond(response, 302, '', { location: `${searchParams.get('redirect_uri')}?${query.toString()}` })
})

function parametersOf (request: FastifyRequest): Values {
  return Object.fromEntries(grouped(new URL(request.url, 'http://x').searchParams))
}

function grouped (pairs: URLSearchParams): Array<[string, string | string[]]> {
  return [...new Set(pairs.keys())].map((name) => {
    const values = pairs.getAll(name)
    return [name, values.length === 1 ? values[0] as string : values]
  })
}

function credentials (request: FastifyRequest, form: Values): { id: string, secret: string } | null {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  if (basic === undefined) {
    const { client_id: id, client_secret: secret } = form
    return typeof id === 'string' && typeof secret === 'string' ? { id, secret } : null
  }
  if (form.client_secret !== undefined) return null
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':')
    .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
  return { id, secret }
}

async function challenged (verifier: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier))).toString('base64url')
}
