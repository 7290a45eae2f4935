// A correct service made of parts, written from the specification alone. A mistake, or an unusual way to be correct,
// replaces some of them.
import { createHash, randomBytes } from 'node:crypto'
import type { Headers, WireRequest, WireResponse } from '../../lib/flow/wire.ts'

export const CLIENT_ID = 'partner-123'
export const CLIENT_SECRET = 'a secret/of+the portal:äé'
export const REDIRECT_URI = 'http://localhost:4180/oauth/callback'
/** What the portal is given, with more time than the default: a busy machine may need it. */
export const SETTINGS = {
  clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, redirectUri: REDIRECT_URI, timeout: 60_000
}
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

/** What a service sends; null where something else responds. */
export type Reply = Partial<WireResponse> | 'silence' | null

export const SECOND = { id: 'partner-456', secret: 'the secret of another client' }

/** What a code, and then its token, represents. */
export interface Grant {
  user: string
  client: string
  challenge: string | null
  method: string | null
  expires: number
  token?: string
}

/** A parsed request. */
export interface Ask {
  method: string
  /** Without the prefix of the service. */
  path: string
  query: URLSearchParams
  form: URLSearchParams
  headers: Record<string, string>
  body: string
  type: string
  /** The user of the session. */
  user: string | null
}

export interface Memory {
  codes: Map<string, Grant>
  used: Map<string, Grant>
  tokens: Map<string, Grant>
  /** For mistakes that need a state of their own. */
  notes: Map<string, number>
  /** How many codes and tokens were made. */
  made: number
  now: () => number
}

const same = (given: string, own: string): boolean => given === own
const lookup = (grants: Map<string, Grant>, given: string): Grant | undefined => grants.get(given)
const random = (): string => randomBytes(32).toString('base64url')
const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

export interface Parts {
  prefix: string
  /** The registered one. */
  redirectUri: string
  newCode: (memory: Memory, grant: Grant, ask: Ask) => string
  newToken: (memory: Memory, grant: Grant, code: string) => string
  sameClient: (given: string, own: string) => boolean
  sameTokenClient: (given: string, own: string) => boolean
  sameSecret: (given: string, own: string) => boolean
  sameUri: (given: string, own: string) => boolean
  sameTokenUri: (given: string, own: string) => boolean
  isType: (type: string) => boolean
  isGrantType: (type: string) => boolean
  findCode: (codes: Map<string, Grant>, given: string, memory: Memory) => Grant | undefined
  findToken: (tokens: Map<string, Grant>, given: string, memory: Memory) => Grant | undefined
  verified: (grant: Grant, verifier: string | null) => boolean
  sameOwner: (grant: Grant, client: string) => boolean
  acceptsChallenge: (challenge: string | null, method: string | null) => boolean
  tokenParameters: (ask: Ask) => URLSearchParams | null
  tokenMethods: string[]
  userMethods: string[]
  tokenOf: (ask: Ask) => string | null
  credentialsOf: (ask: Ask, form: URLSearchParams) => { id: string, secret: string } | null
  sessionOf: (ask: Ask) => string | null
  record: (grant: Grant, ask: Ask) => object
  errorPage: (ask: Ask) => string
  /** Where a user who is not logged in is sent. */
  loginOf: (ask: Ask, prefix: string) => string
  loginPage: (ask: Ask) => string
  /** Of errors. */
  description: string
  /** Beside code and state. */
  callback: (grant: Grant, ask: Ask) => Record<string, string>
  tokenBody: (token: string, grant: Grant) => object
  refusedCode: (memory: Memory, code: string) => void
  failedProof: (memory: Memory, code: string, grant: Grant) => void
  lifetimes: { code: number, token: number }
  /** Before anything else: null where the service goes on. */
  before: (ask: Ask, memory: Memory) => Reply | Promise<Reply>
  /** Changes what is sent. */
  after: (reply: Partial<Sent>, ask: Ask, memory: Memory) => Reply | Promise<Reply>
}

export interface Sent { status: number, headers: Headers, body: string }

export const CORRECT: Parts = {
  prefix: '',
  redirectUri: REDIRECT_URI,
  newCode: random,
  newToken: random,
  sameClient: same,
  sameTokenClient: same,
  sameSecret: same,
  sameUri: same,
  sameTokenUri: same,
  isType: (type) => type === 'code',
  isGrantType: (type) => type === 'authorization_code',
  findCode: lookup,
  findToken: lookup,
  verified: ({ challenge }, verifier) => verifier === null
    ? challenge === null
    : /^[\w.~-]{43,128}$/.test(verifier) && challenge === sha256(verifier),
  sameOwner: ({ client }, caller) => client === caller,
  acceptsChallenge: (challenge, method) => challenge === null || method === 'S256',
  tokenParameters: ({ type, form }) => type === 'application/x-www-form-urlencoded' ? form : null,
  tokenMethods: ['POST'],
  userMethods: ['GET'],
  tokenOf: ({ headers }) => /^bearer +([\w.~+/=-]+)$/i.exec(String(headers.authorization))?.[1] ?? null,
  credentialsOf: credentials,
  sessionOf: ({ headers }) => /\bsid=(\w+)/.exec(`${headers['x-session']} ${headers.cookie}`)?.[1] ?? null,
  record: ({ user }) => RECORDS[user] as object,
  errorPage: () => '<p>Wrong client or redirect_uri.</p>',
  loginOf: ({ path, query }, prefix) => `${prefix}/login?return_to=${encodeURIComponent(`${prefix}${path}?${query}`)}`,
  loginPage: () => '<form method=post><label>User <input name=user></label><button>Log in</button></form>',
  description: 'Refused.',
  callback: () => ({}),
  tokenBody: (token) => ({ token_type: 'Bearer', access_token: token }),
  refusedCode: (memory, code) => {
    const replayed = memory.used.get(code)
    if (replayed?.token !== undefined) memory.tokens.delete(replayed.token)
  },
  failedProof: ({ codes }, code) => { codes.delete(code) },
  lifetimes: { code: 60, token: 60 },
  before: () => null,
  after: (reply) => reply
}

const NO_STORE = ['Cache-Control', 'no-store'] as const
const CLOSED: Headers = [
  NO_STORE, ['Referrer-Policy', 'no-referrer'], ['Content-Security-Policy', 'frame-ancestors \'none\'']
]
const html = (status: number, title: string, body: string): Sent =>
  ({
    status,
    headers: [['Content-Type', 'text/html'], ...CLOSED],
    body: `<!doctype html><title>${title}</title>${body}`
  })
export const json = (status: number, value: object, headers: Headers = []): Sent =>
  ({ status, headers: [['Content-Type', 'application/json'], ...headers], body: JSON.stringify(value) })
const unstored = (status: number, value: object, headers: Headers = []): Sent =>
  json(status, value, [NO_STORE, ...headers])
const redirect = (location: string): Sent => ({ status: 302, headers: [...CLOSED, ['Location', location]], body: '' })

/** The service with these parts, and the rest correct. */
export function serviceOf (parts: Partial<Parts> = {}, now: () => number = Date.now) {
  const all = { ...CORRECT, ...parts }
  const memory: Memory = {
    codes: new Map(), used: new Map(), tokens: new Map(), notes: new Map(), made: 0, now
  }
  return async (request: WireRequest): Promise<Reply> => {
    const ask = read(request, all)
    return await all.before(ask, memory) ?? all.after(respond(all, memory, ask), ask, memory)
  }
}

function read ({ method, url, headers, body = '' }: WireRequest, { prefix, sessionOf }: Parts): Ask {
  const { pathname, searchParams: query } = new URL(url)
  const path = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : '/outside'
  const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const type = String(named['content-type']).split(';')[0] as string
  const ask = { method, path, query, form: new URLSearchParams(body), headers: named, body, type, user: null }
  return { ...ask, user: sessionOf(ask) }
}

function respond (parts: Parts, memory: Memory, ask: Ask): Sent {
  if (ask.path === '/oauth/authorize' && ask.method === 'GET') return authorize(parts, memory, ask)
  if (ask.path === '/oauth/token' && parts.tokenMethods.includes(ask.method)) return token(parts, memory, ask)
  if (ask.path === '/oauth/user' && parts.userMethods.includes(ask.method)) return user(parts, memory, ask)
  if (ask.path === '/login' && ask.method === 'GET') return html(200, 'Log in', parts.loginPage(ask))
  if (ask.path === '/login' && ask.method === 'POST') return logIn(parts, ask)
  return unstored(404, { statusCode: 404, error: 'Not Found', message: 'There is no such route' })
}

function logIn ({ prefix }: Parts, { query, form }: Ask): Sent {
  const headers: Headers = [
    ['Set-Cookie', `sid=${form.get('user') ?? 'ada'}; Path=/; HttpOnly; SameSite=Lax`],
    ['Location', query.get('return_to') ?? `${prefix}/`]
  ]
  return { status: 303, headers, body: '' }
}

function authorize (parts: Parts, memory: Memory, ask: Ask): Sent {
  const { query } = ask
  const one = (name: string): string | null => query.get(name) || null
  const [client, uri, state] = [one('client_id'), one('redirect_uri'), one('state')]
  if (client === null || uri === null || query.getAll('client_id').length + query.getAll('redirect_uri').length > 2 ||
    !parts.sameClient(client, CLIENT_ID) || !parts.sameUri(uri, parts.redirectUri)) {
    return html(400, 'Not possible', parts.errorPage(ask))
  }
  const back = (values: Record<string, string>): Sent =>
    redirect(withQuery(uri, state === null ? values : { ...values, state }))
  const fails = (error: string): Sent => back({ error, error_description: parts.description })
  const repeated = new Set(query.keys()).size < [...query.keys()].length
  if (state === null || repeated || one('response_type') === null) return fails('invalid_request')
  if (!parts.isType(String(one('response_type')))) return fails('unsupported_response_type')
  const [challenge, method] = [one('code_challenge'), one('code_challenge_method')]
  if (!parts.acceptsChallenge(challenge, method)) return fails('invalid_request')
  if (ask.user === null) return redirect(parts.loginOf(ask, parts.prefix))
  if (!(ask.user in RECORDS)) return fails('access_denied')
  memory.made += 1
  const expires = memory.now() + parts.lifetimes.code * 1000
  const grant: Grant = { user: ask.user, client: CLIENT_ID, challenge, method, expires }
  const code = parts.newCode(memory, grant, ask)
  memory.codes.set(code, grant)
  return back({ code, ...parts.callback(grant, ask) })
}

function withQuery (uri: string, values: Record<string, string>): string {
  const query = new URLSearchParams(values).toString()
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`
}

function token (parts: Parts, memory: Memory, ask: Ask): Sent {
  const form = parts.tokenParameters(ask)
  const fails = (status: number, error: string, headers: Headers = []): Sent =>
    unstored(status, { error, error_description: parts.description }, headers)
  if (form === null || new Set(form.keys()).size < [...form.keys()].length) return fails(400, 'invalid_request')
  const one = (name: string): string | null => form.get(name) || null
  const [grantType, uri, code, verifier] =
    ['grant_type', 'redirect_uri', 'code', 'code_verifier'].map(one) as Array<string | null> as
      [string | null, string | null, string | null, string | null]
  if (grantType === null || uri === null || code === null) return fails(400, 'invalid_request')
  if (!parts.isGrantType(grantType)) return fails(400, 'unsupported_grant_type')
  const caller = parts.credentialsOf(ask, form)
  const clients = [{ id: CLIENT_ID, secret: CLIENT_SECRET }, SECOND]
  const client = clients.find(({ id, secret }) =>
    caller !== null && parts.sameTokenClient(caller.id, id) && parts.sameSecret(caller.secret, secret))
  if (client === undefined) return fails(401, 'invalid_client', [['WWW-Authenticate', 'Basic realm="partner"']])
  if (!parts.sameTokenUri(uri, parts.redirectUri)) return fails(400, 'invalid_grant')
  const grant = parts.findCode(memory.codes, code, memory)
  if (grant === undefined || grant.expires < memory.now() || !parts.sameOwner(grant, client.id)) {
    parts.refusedCode(memory, code)
    return fails(400, 'invalid_grant')
  }
  if (!parts.verified(grant, verifier)) {
    parts.failedProof(memory, code, grant)
    return fails(400, 'invalid_grant')
  }
  memory.made += 1
  const expires = memory.now() + parts.lifetimes.token * 1000
  const accessToken = parts.newToken(memory, grant, code)
  memory.tokens.set(accessToken, { ...grant, expires })
  memory.used.set(code, { ...grant, token: accessToken })
  for (const [other, one] of memory.codes) if (one === grant) memory.codes.delete(other)
  return unstored(200, parts.tokenBody(accessToken, grant))
}

function user (parts: Parts, memory: Memory, ask: Ask): Sent {
  const given = parts.tokenOf(ask)
  const challenge = (text: string): Headers => [['WWW-Authenticate', `Bearer realm="partner"${text}`]]
  if (given === null) return unstored(401, { error: 'invalid_token' }, challenge(''))
  const grant = parts.findToken(memory.tokens, given, memory)
  for (const [other, one] of memory.tokens) if (one === grant) memory.tokens.delete(other)
  if (grant === undefined || grant.expires < memory.now()) {
    return unstored(401, { error: 'invalid_token', error_description: parts.description },
      challenge(', error="invalid_token"'))
  }
  return unstored(200, parts.record(grant, ask))
}

export function credentials (
  { headers }: Pick<Ask, 'headers'>, form: URLSearchParams
): { id: string, secret: string } | null {
  const basic = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1]
  const [id, secret] = [form.get('client_id'), form.get('client_secret')]
  if (basic === undefined) return id === null || secret === null ? null : { id, secret }
  if (secret !== null) return null
  const [name = '', word = ''] = Buffer.from(basic, 'base64').toString().split(':').map(formDecoded)
  return id === null || id === name ? { id: name, secret: word } : null
}

const formDecoded = (part: string): string => new URLSearchParams(`v=${part}`).get('v') as string
