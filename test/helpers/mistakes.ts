// The common mistakes of services: each replaces some parts of a correct one.
import { setImmediate as turn } from 'node:timers/promises'
import { CLIENT_SECRET, CORRECT, credentials, json, REDIRECT_URI } from './service.ts'
import type { Ask, Grant, Parts, Reply, Sent } from './service.ts'

const { loginOf, record, sessionOf, tokenOf, tokenParameters, verified } = CORRECT

const isOpen = ({ path }: Ask): boolean => path === '/login' || path === '/oauth/authorize'
/** Something else responds to such requests. */
const instead = (reply: Reply, is: (ask: Ask) => boolean) => ({ before: (ask: Ask) => is(ask) ? reply : null })
const at = (path: string, reply: Reply) => instead(reply, (ask) => ask.path === path)
/** Changes the responses of these paths. */
const changed = (paths: string, change: (sent: Sent, ask: Ask) => Reply) => ({
  after: (sent: Partial<Sent>, ask: Ask) => ask.path.startsWith(paths) ? change(sent as Sent, ask) : sent
})
const without = (paths: string, ...names: string[]) => changed(paths, (sent) =>
  ({ ...sent, headers: sent.headers.filter(([name]) => !names.includes(name)) }))
/** Changes the parameters of the responses to the callback. */
export const calledBack = (change: (parameters: URLSearchParams) => void) => changed('/oauth/authorize', (sent) => ({
  ...sent,
  headers: sent.headers.map(([name, value]) => {
    if (name !== 'Location' || !value.startsWith('http')) return [name, value]
    const url = new URL(value)
    change(url.searchParams)
    return [name, url.href]
  })
}))
/** An access token response in another form. */
const issued = (type: string, bodyOf: (body: string) => string) => changed('/oauth/token', (sent) =>
  sent.status === 200 ? { status: 200, headers: [['Content-Type', type]], body: bodyOf(sent.body) } : sent)
const ofAda = (): Grant => ({ user: 'ada', client: '', challenge: null, method: null, expires: Infinity })
/** A grant that stays where it is: another one is used. */
const copied = (grants: Map<string, Grant>, given: string): Grant | undefined =>
  grants.has(given) ? { ...grants.get(given) as Grant } : undefined
/** A grant that is removed after others may have found it. */
const removedLate = (path: string, kept: 'codes' | 'tokens', valueOf: (ask: Ask) => string | null): Partial<Parts> => ({
  [kept === 'codes' ? 'findCode' : 'findToken']: copied,
  after: async (sent, ask, memory) => {
    if (ask.path !== path || sent.status !== 200) return sent
    await turn()
    memory[kept].delete(String(valueOf(ask)))
    return sent
  }
})
/** Nobody sends this one. */
const NO_TOKEN = ''
const firstOfEach = (parameters: URLSearchParams) =>
  new URLSearchParams([...new Map([...parameters].reverse())])
const unauthorized = json(401, { statusCode: 401, error: 'Unauthorized', message: 'Log in first' })
const noCsrf = { statusCode: 403, code: 'FST_CSRF_MISSING_SECRET', error: 'Forbidden', message: 'Missing csrf secret' }

export const MISTAKES = {
  'login-loses-prefix': { loginOf: (ask, prefix) => prefix + loginOf(ask, '') },
  'code-never-expires': { lifetimes: { code: Infinity, token: 60 } },
  'login-csp': changed('/login', (sent) => ({
    ...sent,
    headers: sent.headers.map(([name, value]) =>
      [name, value.replace(/^frame-ancestors.*/, "$&;form-action 'self'")])
  })),
  'login-loop': { loginOf: ({ path, query }, prefix) => `${prefix}${path}?${query}` },
  'login-404': at('/login', json(404, { error: 'Not Found' })),
  'login-elsewhere': { loginOf: () => 'https://login.partner.example/' },
  'login-broken': at('/login', json(500, { error: 'Internal Server Error', message: 'view not found' })),
  'login-forgets': { loginOf: (_ask, prefix) => `${prefix}/login` },
  'login-hook': instead(unauthorized, ({ user }) => user === null),
  'authorize-hook': instead(unauthorized, () => true),
  'auth-hook': instead(unauthorized, (ask) => ask.user === null && !isOpen(ask)),
  'auth-hook-redirects': instead({ status: 302, headers: [['Location', '/login']] },
    (ask) => ask.user === null && !isOpen(ask)),
  'csrf-hook': instead(json(403, noCsrf), (ask) => ask.method === 'POST' && !isOpen(ask)),
  'user-hook': instead(unauthorized, ({ user, path }) => user === null && path === '/oauth/user'),
  'body-read': { tokenParameters: () => new URLSearchParams() },
  spa: instead({
    status: 200, headers: [['Content-Type', 'text/html']], body: '<!doctype html><title>Partner</title>'
  }, (ask) => !isOpen(ask)),
  'head-twins': {
    before: (ask) => {
      if (ask.method === 'HEAD') ask.method = 'GET'
      return null
    }
  },
  cacheable: without('/oauth/', 'Cache-Control'),
  framable: without('/', 'Content-Security-Policy'),
  referrer: without('/', 'Referrer-Policy'),
  'any-redirect-uri': { sameUri: () => true },
  'any-client': { sameClient: () => true },
  'no-login-check': { sessionOf: (ask) => sessionOf(ask) ?? 'ada' },
  'everyone-eligible': { sessionOf: (ask) => sessionOf(ask)?.replace('eve', 'ada') ?? null },
  'refusal-without-redirect': changed('/oauth/authorize', (sent, { user }) =>
    user === 'eve' ? json(403, { error: 'access_denied' }) : sent),
  'state-changed': calledBack((parameters) => parameters.set('state', String(parameters.get('state')).toLowerCase())),
  'state-lost': calledBack((parameters) => parameters.delete('state')),
  'state-optional': {
    before: ({ query }) => {
      if (!query.get('state')) query.set('state', 'none')
      return null
    }
  },
  'any-response-type': { isType: () => true },
  'repeated-parameters': {
    before: (ask) => {
      Object.assign(ask, { query: firstOfEach(ask.query), form: firstOfEach(ask.form) })
      return null
    }
  },
  echo: { errorPage: ({ query }) => String(query.get('client_id')) },
  'any-secret': { sameSecret: () => true },
  'any-token-client': { sameTokenClient: () => true },
  'reusable-code': { findCode: copied },
  'racy-code': removedLate('/oauth/token', 'codes', ({ form }) => form.get('code')),
  'any-token-redirect': { sameTokenUri: () => true },
  'any-grant': { isGrantType: () => true },
  'any-code': { findCode: (codes, given) => codes.get(given) ?? ofAda(), sameOwner: () => true },
  'burns-code': {
    before: (ask, { codes }) => {
      if (credentials(ask, ask.form)?.secret !== CLIENT_SECRET) codes.delete(String(ask.form.get('code')))
      return null
    }
  },
  'json-body': {
    tokenParameters: ({ type, body, form }) => type === 'application/json'
      ? new URLSearchParams(Object.entries(JSON.parse(body)))
      : form
  },
  'url-credentials': {
    tokenParameters: (ask) => {
      const form = tokenParameters(ask)
      return form === null ? null : new URLSearchParams([...ask.query, ...form])
    }
  },
  'no-basic': {
    credentialsOf: (ask, form) => ask.headers.authorization === undefined ? credentials(ask, form) : null
  },
  'pkce-any-verifier': { verified: ({ challenge }, verifier) => verifier !== null || challenge === null },
  'pkce-optional-verifier': { verified: (grant, verifier) => verifier === null || verified(grant, verifier) },
  'replay-leaves-token': { refusedCode: () => {} },
  'html-token': issued('text/html', () => '<!doctype html><title>Welcome</title>'),
  'text-token': issued('text/plain', (body) => body),
  'lower-bearer': { tokenBody: (token) => ({ token_type: 'bearer', access_token: token }) },
  'plain-errors': changed('/oauth/', (sent) => sent.status < 400
    ? sent
    : {
        ...sent,
        headers: sent.headers.map(([name, value]) => [name, value.replace('application/json', 'text/plain')]),
        body: 'no'
      }),
  'optional-parameters': {
    before: ({ path, form }) => {
      if (path !== '/oauth/token') return null
      if (!form.get('grant_type')) form.set('grant_type', 'authorization_code')
      if (!form.get('redirect_uri')) form.set('redirect_uri', REDIRECT_URI)
      return null
    },
    sameTokenUri: () => true
  },
  'code-is-token': { findToken: (tokens, given, { codes }) => tokens.get(given) ?? codes.get(given) },
  'token-is-code': { findCode: (codes, given, { tokens }) => codes.get(given) ?? tokens.get(given) },
  'reusable-token': { findToken: copied },
  'racy-token': removedLate('/oauth/user', 'tokens', tokenOf),
  'any-token': { findToken: (tokens, given) => tokens.get(given) ?? ofAda() },
  'no-token-needed': {
    tokenOf: (ask) => 'authorization' in ask.headers ? tokenOf(ask) : NO_TOKEN,
    findToken: (tokens, given) => given === NO_TOKEN ? ofAda() : tokens.get(given)
  },
  'session-is-token': {
    tokenOf: (ask) => tokenOf(ask) ?? (ask.user === null ? null : NO_TOKEN),
    findToken: (tokens, given) => given === NO_TOKEN ? ofAda() : tokens.get(given)
  },
  'query-token': { tokenOf: (ask) => tokenOf(ask) ?? ask.query.get('access_token') },
  'case-scheme': { tokenOf: (ask) => /^Bearer /.test(String(ask.headers.authorization)) ? tokenOf(ask) : null },
  'wrong-role': { record: (grant, ask) => ({ ...record(grant, ask), control_role: 'Administrator' }) },
  'extra-fields': { record: (grant, ask) => ({ ...record(grant, ask), password_hash: '$2b$10$' }) },
  'user-404': at('/oauth/user', json(404, { error: 'Not Found' })),
  'email-in-refusal': changed('/oauth/user', (sent, ask) => sent.status === 401 && tokenOf(ask) !== null
    ? { ...sent, body: JSON.stringify({ error: 'invalid_token', error_description: 'Not for ada@partner.example.' }) }
    : sent),
  'unknown-client-500': changed('/oauth/authorize', (sent) =>
    sent.status === 400 ? { ...sent, status: 500 } : sent)
} satisfies Record<string, Partial<Parts>>

export type Mistake = keyof typeof MISTAKES

/** The parts of a service that makes these mistakes. */
export const partsOf = (mistakes: Mistake[]): Partial<Parts> =>
  Object.assign({}, ...mistakes.map((name) => MISTAKES[name]))
