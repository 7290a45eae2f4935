// What a security tester finds from outside: services with one mistake each, grouped by how they are found.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Headers } from '../../lib/flow/wire.ts'
import { calledBack } from '../helpers/mistakes.ts'
import { CLIENT_ID, CLIENT_SECRET, credentials, json, RECORDS, REDIRECT_URI, SECOND } from '../helpers/service.ts'
import type { Ask, Grant, Memory, Parts, Reply } from '../helpers/service.ts'
import { failedRules, redirect, tried } from './trial.ts'
import type { Trial } from './trial.ts'

type Credentials = { id: string, secret: string }

interface Mistake {
  parts: Partial<Parts>
  /** The rules that fail: `!` what must pass, `?` advice. */
  fails: string[]
  /** Of the first of them. */
  got: RegExp
  trial?: Trial
}

const mistake = (fails: string, got: RegExp, parts: Partial<Parts>, trial: Trial = {}): Mistake =>
  ({ fails: fails.split(' '), got, parts, trial })

const lower = (given: string, own: string): boolean => given.toLowerCase() === own.toLowerCase()
const trimmed = (given: string, own: string): boolean => given.trim() === own
const asPattern = (given: string, own: string): boolean => new RegExp(`^${own}$`).test(given)
const givenPattern = (given: string, own: string): boolean => {
  try { return new RegExp(`^${given}$`).test(own) } catch { return false }
}
const asUrl = (given: string, own: string): boolean => URL.canParse(given) &&
  new URL(given).href === new URL(own).href
const inObject = (given: string, own: string): boolean => given === own || given in {}
const decoded = (given: string, own: string): boolean => {
  try { return decodeURIComponent(given) === own } catch { return false }
}
/** Credentials of HTTP Basic, changed before they are compared. */
const asBasic = (change: (given: Credentials) => Credentials): Parts['credentialsOf'] => (ask, form) => {
  const given = credentials(ask, form)
  return given === null || ask.headers.authorization === undefined ? given : change(given)
}
const hash = (name: string, text: string): string => createHash(name).update(text).digest('hex')
const base64 = (text: string): string => Buffer.from(text).toString('base64url')
const random = (): string => randomBytes(32).toString('base64url')
const s256 = (text: string): string => createHash('sha256').update(text).digest('base64url')
const find = (same: (given: string, own: string) => boolean) => (grants: Map<string, Grant>, given: string) =>
  [...grants].find(([own]) => same(given, own))?.[1]
const eternal = (grants: Map<string, Grant>, given: string): Grant | undefined => {
  const grant = grants.get(given)
  return grant === undefined ? undefined : Object.assign(grant, { expires: Infinity })
}
const echo = (name: string, wrap: (text: string) => string) => ({
  errorPage: ({ query }: { query: URLSearchParams }) => wrap(query.get(name) ?? '')
})
/** At this endpoint, before it does anything. */
const at = (path: string, respond: (ask: Ask) => Reply): Pick<Parts, 'before'> =>
  ({ before: (ask) => ask.path === path ? respond(ask) : null })
const refusal = (status: number, code: string, more: Headers = []): Reply =>
  json(status, { error: code }, [['Cache-Control', 'no-store'], ...more])
/** At this path, these headers in place of those with this name. */
const replacing = (path: string, header: string, others: Headers): Pick<Parts, 'after'> => ({
  after: (reply, ask) => ask.path === path
    ? { ...reply, headers: [...(reply.headers ?? []).filter(([name]) => name !== header), ...others] }
    : reply
})
/** A token that names its user and is not verified. */
const believed = (write: (grant: Grant, made: number) => string, read: (token: string) => string | undefined) => ({
  newToken: ({ made }: Memory, grant: Grant) => write(grant, made),
  findToken: (_tokens: Map<string, Grant>, given: string, { notes }: Memory): Grant | undefined => {
    const user = read(given)
    if (user === undefined || notes.has(given)) return undefined
    notes.set(given, 1)
    return { user, client: '', challenge: null, method: null, expires: Infinity }
  }
})
const parse = (text: string): Record<string, string> => {
  try { return JSON.parse(Buffer.from(text, 'base64url').toString()) } catch { return {} }
}
const jwt = (alg: string, key: string | null) => ({ user }: Grant): string => {
  const content = `${base64(JSON.stringify({ alg, typ: 'JWT' }))}.${base64(JSON.stringify({ user, id: random() }))}`
  return `${content}.${key === null ? '' : createHmac('sha256', key).update(content).digest('base64url')}`
}
const KEY = random()
const hs256 = (content: string, key = KEY): string => createHmac('sha256', key).update(content).digest('base64url')
const payload = (token: string): string | undefined => parse(token.split('.')[1] ?? '').user
const verifiedJwt = (isRight: (header: Record<string, string>, content: string, signature: string) => boolean) =>
  believed(jwt('HS256', KEY), (token) => {
    const [header = '', body = '', signature = ''] = token.split('.')
    return isRight(parse(header), `${header}.${body}`, signature) ? payload(token) : undefined
  })
const portalUri = 'https://portal.example/oauth/callback'
const https: Trial = { redirectUri: portalUri }
const atPortal = (same: (given: string, own: string) => boolean) => ({
  sameUri: (given: string) => same(given, portalUri), sameTokenUri: (given: string) => given === portalUri
})

const FAMILIES: Record<string, Record<string, Mistake>> = {
  client_secret: {
    'its first 8 characters': mistake('!token.secret-exact', /^client_secret .*200/,
      { sameSecret: (given, own) => given.slice(0, 8) === own.slice(0, 8) }),
    'a prefix of it': mistake('!token.secret-exact', /^client_secret without the last character: 200/,
      { sameSecret: (given, own) => given !== '' && own.startsWith(given) }),
    'it as a prefix': mistake('!token.secret-exact', /^client_secret with one more character: 200/,
      { sameSecret: (given, own) => given.startsWith(own) }),
    'anywhere in the value': mistake('!token.secret-exact', /200/, {
      sameSecret: (given,
        own) => given.includes(own)
    }),
    'its length': mistake('!token.secret-exact', /^client_secret .*200/,
      { sameSecret: (given, own) => given.length === own.length }),
    'without case': mistake('!token.secret-exact', /^client_secret in another case: 200/, { sameSecret: lower }),
    trimmed: mistake('!token.secret-exact', /^client_secret with a space in front: 200/, { sameSecret: trimmed }),
    'without accents': mistake('!token.secret-exact', /^client_secret .*200/, {
      sameSecret: (given, own) => given.localeCompare(own, 'en', { sensitivity: 'base' }) === 0
    }),
    'as a pattern of SQL': mistake('!token.secret-exact', /200/, {
      sameSecret: (given, own) => givenPattern(given.replace(/[()+?*.[\]{}|^$/\\]/g, '\\$&').replaceAll('%', '.*'),
        own)
    }),
    'its characters in any order': mistake('!token.secret-exact', /in another order: 200/, {
      sameSecret: (given, own) => [...given].sort().join('') === [...own].sort().join('')
    }),
    'with + for a space': mistake('!token.secret-exact', /with a space for each \+: 200/,
      { sameSecret: (given, own) => given.replaceAll('+', ' ') === own.replaceAll('+', ' ') }),
    'or that of the manual': mistake('!token.secret-exact', /as "changeme": 200/,
      { sameSecret: (given, own) => given === own || given === 'changeme' }),
    'decoded twice': mistake('!token.secret-exact', /^client_secret percent-encoded once more: 200/,
      { sameSecret: (given, own) => given === own || decoded(given, own) }),
    'after NFKC': mistake('!token.secret-exact', /^client_secret with a letter in full width: 200/,
      { sameSecret: (given, own) => given.normalize('NFKC') === own }),
    'its first 8 characters, in HTTP Basic': mistake('!token.secret-exact', /^client_secret in HTTP Basic .*: 200/, {
      credentialsOf: asBasic((given) => ({
        ...given, secret: given.secret.slice(0, 8) === CLIENT_SECRET.slice(0, 8) ? CLIENT_SECRET : ''
      }))
    }),
    'up to a NUL': mistake('!token.secret-exact', /NUL and more at the end: 200/,
      { sameSecret: (given, own) => given.split('\0')[0] === own })
  },
  client_id: {
    'without case, at both endpoints': mistake('!authorize.client-exact !token.client-exact',
      /^client_id in another case/,
      { sameClient: lower, sameTokenClient: lower }),
    'without case, in HTTP Basic': mistake('!token.client-exact', /^client_id in HTTP Basic in another case: 200/,
      { credentialsOf: asBasic(({ id, secret }) => ({ id: id.toLowerCase(), secret })) }),
    'by its first characters': mistake('!authorize.client-exact', /^client_id .*with client_id=/,
      { sameClient: (given, own) => given !== '' && own.startsWith(given) }),
  },
  'a name that every object has': {
    client_id: mistake('!authorize.client-exact', /^client_id as "constructor"/, { sameClient: inObject }),
    'client_id at the token endpoint': mistake('!token.client-exact', /^client_id as "constructor": 200/,
      { sameTokenClient: inObject }),
    client_secret: mistake('!token.secret-exact', /^client_secret as "constructor": 200/, { sameSecret: inObject }),
    response_type: mistake('!authorize.response-type-exact', /^response_type as "constructor"/,
      { isType: (type) => inObject(type, 'code') }),
    code: mistake('!token.code-exact', /^code as "constructor": 200/, { findCode: find(inObject) }),
    token: mistake('!user.token-exact', /^the access token as "constructor": 200/, { findToken: find(inObject) })
  },
  redirect_uri: {
    'by prefix': mistake('!authorize.redirect-uri-exact', /^redirect_uri with a longer path: .*302/,
      { sameUri: (given, own) => given.startsWith(own) }),
    'by its origin': mistake('!authorize.redirect-uri-exact', /302/,
      { sameUri: (given, own) => URL.canParse(given) && new URL(given).origin === new URL(own).origin }),
    'as a pattern': mistake('!authorize.redirect-uri-exact', /^redirect_uri with a letter in place of a dot/,
      atPortal(asPattern), https),
    'without case': mistake('!authorize.redirect-uri-exact', /in another case/, { sameUri: lower }),
    'after parsing: default port, capitals, /x/../': mistake('!authorize.redirect-uri-exact', /^redirect_uri with /,
      atPortal(asUrl), https),
    'decoded twice': mistake('!authorize.redirect-uri-exact', /encoded/, { sameUri: decoded }),
    trimmed: mistake('!authorize.redirect-uri-exact', /with a space in front/, { sameUri: trimmed }),
    'with user information': mistake('!authorize.redirect-uri-exact', /with user information/,
      { sameUri: (given, own) => given.replace(/\/\/[^/@]*@/, '//') === own }),
    'without query': mistake('!authorize.redirect-uri-exact', /with one more parameter/,
      { sameUri: (given, own) => given.split('?')[0] === own }),
    'without fragment': mistake('!authorize.redirect-uri-exact', /with a fragment/,
      { sameUri: (given, own) => given.split('#')[0] === own }),
    'by the end of the host': mistake('!authorize.redirect-uri-exact', /^redirect_uri /, atPortal((given, own) =>
      URL.canParse(given) && new URL(given).hostname.endsWith(new URL(own).hostname) &&
        new URL(given).pathname === new URL(own).pathname), https),
    'anywhere in the value': mistake('!authorize.redirect-uri-exact', /as a parameter of another host/,
      { sameUri: (given, own) => given.endsWith(own) }),
    'after the other parameters': mistake('!authorize.foreign-redirect-uri',
      /^with response_type=unknown, redirect_uri=https:\/\/foreign.example\/callback: 302/, {
        before: ({ query }) => query.get('response_type') === 'unknown'
          ? redirect(`${query.get('redirect_uri')}?error=unsupported_response_type`)
          : null
      }),
    'after the user': mistake('!authorize.foreign-redirect-uri', /^with redirect_uri=https:[^:]*: 302/, {
      before: ({ user, query }) => user === 'eve' ? redirect(`${query.get('redirect_uri')}?error=access_denied`) : null
    }, { ineligible: 'sid=eve' }),
    'after the login': mistake('!authorize.foreign-redirect-uri', /^with redirect_uri=https:[^:]*: 302/,
      at('/oauth/authorize', ({ user, query }) => user === null && query.get('redirect_uri') !== REDIRECT_URI
        ? redirect(`${query.get('redirect_uri')}?error=access_denied`)
        : null)),
    'by prefix at the token endpoint': mistake('!token.redirect-uri-exact', /^redirect_uri with a longer path: 200/,
      { sameTokenUri: (given, own) => given.startsWith(own) }),
    'parsed at the token endpoint': mistake('!token.redirect-uri-exact', /^redirect_uri .*200/,
      { sameTokenUri: asUrl })
  },
  'response_type and grant_type': {
    token: mistake('!authorize.response-type-exact', /^response_type as "token"/,
      { isType: (type) => ['code', 'token'].includes(type) }),
    'code token': mistake('!authorize.response-type-exact', /^response_type as "code token"/,
      { isType: (type) => type.split(' ').includes('code') }),
    'another case': mistake('!authorize.response-type-exact', /in another case/,
      { isType: (type) => type.toLowerCase() === 'code' }),
    client_credentials: mistake('!token.grant-type-exact', /^grant_type as "client_credentials": 200/,
      { isGrantType: (type) => ['authorization_code', 'client_credentials'].includes(type) }),
    'grant_type in another case': mistake('!token.grant-type-exact', /in another case: 200/,
      { isGrantType: (type) => type.toLowerCase() === 'authorization_code' })
  },
  'codes and tokens that are looked up': {
    'a session by its first characters': mistake('!authorize.forged-session',
      /^the cookie with another last character: 302/,
      { sessionOf: ({ headers }) => /\bsid=ad/.test(String(headers.cookie)) ? 'ada' : null }),
    'a user that is another one each time': mistake('!user.same-user', /^another external_id/,
      { record: ({ user }) => ({ ...RECORDS[user], external_id: random() }) }),
    'a code whose + is not encoded': mistake('!authorize.code-encoded', /^a code with a \+ that was not encoded/, {
      newCode: () => `a+${random()}`,
      after: (reply) => ({
        ...reply, headers: reply.headers?.map(([name, value]) => [name, value.replaceAll('%2B', '+')] as const) ?? []
      })
    }),
    'a code without case': mistake('!token.code-exact', /^code in another case: 200/, { findCode: find(lower) }),
    'a code by prefix': mistake('!token.code-exact', /^code without the last character: 200/,
      { findCode: find((given, own) => given !== '' && own.startsWith(given)) }),
    'a code as a pattern': mistake('!token.code-exact', /200/, { findCode: find(givenPattern) }),
    'a token by its first half': mistake('!user.token-exact', /^the access token .*200/,
      { findToken: find((given, own) => given.slice(0, 16) === own.slice(0, 16)) }),
    'a token without case': mistake('!user.token-exact', /in another case: 200/, { findToken: find(lower) })
  },
  'codes that are guessed': {
    'a counter': mistake('!authorize.fresh-code', /random bits/, { newCode: ({ made }) => `${1000 + made}` }),
    'a prefix and a counter': mistake('!authorize.fresh-code', /random bits/,
      { newCode: ({ made }) => `authorization-code-of-partner-${made}` }),
    'a UUID of version 1': mistake('!authorize.fresh-code', /random bits/,
      { newCode: ({ made }) => `${(0x2000 + made).toString(16).padStart(8, '0')}-9c7b-11ee-8c90-0242ac120002` }),
    'the time': mistake('!authorize.fresh-code', /the same one twice|random bits/,
      { newCode: ({ made }) => `${Date.now()}${made}`.padEnd(40, '0') }),
    'the same for a user': mistake('!authorize.fresh-code !authorize.derived-code', /twice/, {
      newCode: (_memory,
        { user }) => hash('sha256', user)
    }),
    'the same for a state': mistake('!authorize.fresh-code', /same request/,
      { newCode: (_memory, _grant, { query }) => hash('sha256', `${KEY}${query.get('state')}`) }),
    'the state itself': mistake('!authorize.derived-code !authorize.fresh-code', /./,
      { newCode: (_memory, _grant, { query }) => String(query.get('state')) }),
    'the state and a counter, encoded': mistake('!authorize.fresh-code', /random bits/,
      { newCode: ({ made }, _grant, { query }) => base64(`${query.get('state')}:${made}`) }),
    'a hash of a counter': mistake('!authorize.derived-code', /the hash of a number/,
      { newCode: ({ made }) => hash('md5', String(made)) }),
    'the beginning of a hash of a counter': mistake('!authorize.derived-code', /the hash of a number/,
      { newCode: ({ made }) => hash('sha256', String(made)).slice(0, 48) }),
    'a hash of user and time': mistake('!authorize.derived-code !authorize.fresh-code',
      /the hash of known text and the time/,
      { newCode: ({ made }, { user }) => hash('sha1', `${user}:${Date.now()}`) + (made < 0 ? 'x' : '') }),
    '6 digits': mistake('!authorize.fresh-code', /random bits/,
      // Never the same twice, since 271,829 shares no divisor with a million.
      { newCode: ({ made }) => String(made * 271_829 % 1_000_000).padStart(6, '0') }),
    'Math.random': mistake('!authorize.fresh-code', /random bits/,
      { newCode: () => Number(`0.${BigInt(`0x${randomBytes(6).toString('hex')}`)}`).toString(36).slice(2) }),
    '80 bits': mistake('?authorize.fresh-code', /random bits/, { newCode: () => randomBytes(10).toString('hex') })
  },
  'tokens that are guessed': {
    'a counter': mistake('!token.fresh-token', /random bits/, { newToken: ({ made }) => `token-${made}` }),
    'the code': mistake('!token.fresh-token !token.derived-token', /./, {
      newToken: (_memory, _grant,
        code) => code
    }),
    'a hash of the code': mistake('!token.derived-token', /hash of known text/,
      { newToken: (_memory, _grant, code) => hash('sha256', code) }),
    'an HMAC of the code under the client_id': mistake('!token.derived-token', /the HMAC of known text/,
      { newToken: (_memory, { client }, code) => createHmac('sha256', client).update(code).digest('hex') }),
    'the code and a suffix': mistake('!token.fresh-token', /random bits/, {
      newToken: (_memory, _grant,
        code) => `${code}.token`
    }),
    'the code and a counter, encoded': mistake('!token.fresh-token', /random bits/,
      { newToken: ({ made }, _grant, code) => base64(`${code}:${made}`) }),
    'the same for a user': mistake('!token.fresh-token', /twice/, {
      newToken: (_memory, { user }) => hash('sha256',
        user + KEY)
    })
  },
  'codes and tokens that are edited': {
    'base64 JSON': mistake('!user.forged-token', /^the token with one more member in its JSON: 200/,
      believed(({ user }, made) => base64(JSON.stringify({ user, made, id: random() })),
        (token) => parse(token).user)),
    'a JWT of alg none': mistake('!user.forged-token', /200/,
      believed(jwt('none', null), payload)),
    'a JWT that may have alg none': mistake('!user.forged-token', /"alg":"none" and no signature: 200/,
      verifiedJwt(({ alg }, content, signature) => alg === 'none' || signature === hs256(content))),
    'a JWT whose signature is not verified': mistake('!user.forged-token', /200/, verifiedJwt(() => true)),
    'a JWT whose signature may be absent': mistake('!user.forged-token', /without its signature: 200/,
      verifiedJwt((_header, content, signature) => signature === '' || signature === hs256(content))),
    'a JWT under a key of the manual': mistake('!user.forged-token', /signed with the key "secret": 200/,
      believed(jwt('HS256', 'secret'), (token) => {
        const [header = '', body = '', signature] = token.split('.')
        return signature === hs256(`${header}.${body}`, 'secret') ? payload(token) : undefined
      }))
  },
  'methods, bodies and places': {
    'GET at the token endpoint': mistake('!token.method', /^method GET: 200/, {
      tokenMethods: ['POST', 'GET'], tokenParameters: ({ method, query, form }) => method === 'GET' ? query : form
    }),
    'a JSON body': mistake('?token.form-only', /^200/, {
      tokenParameters: ({ type, body, form }) =>
        type === 'application/json' ? new URLSearchParams(Object.entries(JSON.parse(body))) : form
    }),
    'credentials in the query': mistake('!token.credentials-in-url', /^200/,
      { tokenParameters: ({ query, form }) => new URLSearchParams([...query, ...form]) }),
    'any body': mistake('?token.form-only', /^200/, { tokenParameters: ({ form }) => form }),
    'a user whom the user request names': mistake('!user.parameters', /and another record$/, {
      record: ({ user }, { query }) => ({ ...RECORDS[user], external_id: query.get('external_id') ?? 'u-1' })
    }),
    'an e-mail address that the user request names': mistake('!user.parameters', /and another record$/, {
      record: ({ user }, { query }) => ({ ...RECORDS[user], email: query.get('email') ?? 'ada@partner.example' })
    }),
    'the client_id in place of the secret': mistake('!token.impostor', /with the client_id as its client_secret: 200/, {
      credentialsOf: (ask, form) => form.get('client_secret') === CLIENT_ID
        ? { id: CLIENT_ID, secret: CLIENT_SECRET }
        : credentials(ask, form)
    }),
    'a state in a variable that the next request sets': mistake('!authorize.states-apart', /^state-\d, for state-\d$/, {
      before: async ({ path, query }, { notes }) => {
        if (path !== '/oauth/authorize' || !query.has('state')) return null
        notes.clear()
        notes.set(String(query.get('state')), 1)
        await turn()
        query.set('state', [...notes.keys()].join())
        return null
      }
    }),
    'any redirect_uri by POST': mistake('!authorize.repeated', /^by POST: 302/, {
      before: ({ method, path, form }) => method === 'POST' && path === '/oauth/authorize'
        ? { status: 302, headers: [['Location', `${form.get('redirect_uri')}?code=x`]] }
        : null
    }),
    'a used code at the user endpoint': mistake('!user.code-as-token', /^200/,
      { findToken: (tokens, given, { used }) => tokens.get(given) ?? used.get(given) }),
    'a token in a cookie': mistake('?user.other-places', /cookie access_token: 200/, {
      tokenOf: ({ headers }) => /^bearer (\S+)$/i.exec(String(headers.authorization))?.[1] ??
        /access_token=([^;]+)/.exec(String(headers.cookie))?.[1] ?? null
    }),
    'a token in the body': mistake('?user.other-places', /in a form: 200/, {
      userMethods: ['GET', 'POST'],
      tokenOf: ({
        headers,
        form
      }) => /^bearer (\S+)$/i.exec(String(headers.authorization))?.[1] ?? form.get('access_token')
    }),
    'any scheme': mistake('?user.other-places', /scheme: 200/,
      { tokenOf: ({ headers }) => /(\S+)$/.exec(headers.authorization ?? '')?.[1] ?? null }),
    'any scheme, of a token that each refusal uses up': mistake('?user.other-places', /scheme Token: 200/, {
      tokenOf: ({ headers }) => /^(?:bearer|token) (\S+)$/i.exec(String(headers.authorization))?.[1] ?? null,
      after: (reply, { path }, { tokens }) => {
        if (path === '/oauth/user' && reply.status !== 200) tokens.clear()
        return reply
      }
    }),
    'a client_secret that is an object': mistake('!token.missing-secret',
      /^with no client_secret, client_secret\[\$ne\]=x: 200/, {
        credentialsOf: (ask, form) => form.has('client_secret[$ne]')
          ? { id: String(form.get('client_id')), secret: CLIENT_SECRET }
          : credentials(ask, form)
      }),
    'a code that is an object': mistake('!token.missing-code', /^with no code, code\[\]=x: 200/, {
      tokenParameters: ({ form }) => new URLSearchParams([...form].map(([name, value]) =>
        name === 'code[]' ? ['code', 'the-last'] : [name, value])),
      findCode: (codes, given) => given === 'the-last' ? [...codes.values()].at(-1) : codes.get(given)
    }),
    'an empty redirect_uri': mistake('!token.missing-redirect-uri', /^with redirect_uri=: 200/, {
      tokenParameters: ({ form }) => new URLSearchParams([...form].map(([name, value]) =>
        [name, value === '' ? REDIRECT_URI : value]))
    }),
    'a part that cannot be decoded': mistake('?service.malformed ?service.internals-shown',
      /^GET \/oauth\/authorize, 500$/, {
        before: ({ query }) => query.has('x')
          ? { status: 500, headers: [], body: 'URIError: URI malformed\n    at decodeURIComponent (app.js:3:5)' }
          : null
      }),
    'the session of the user in place of the secret': mistake('!token.impostor', /cookies of the user: 200/, {
      credentialsOf: (ask, form) => ask.user !== null
        ? { id: String(form.get('client_id')), secret: 'a secret/of+the portal:äé' }
        : credentials(ask, form)
    }),
    'a user whom the request names': mistake('!authorize.claimed-user', /^with user=/, {
      sessionOf: ({
        headers,
        query
      }) => /\bsid=(\w+)/.exec(String(headers.cookie))?.[1] ?? (query.has('user') ? 'ada' : null)
    }),
    'a login at the host that a header names': mistake('?authorize.forwarded-host',
      /^with X-Forwarded-Host: foreign.example: 302 with a redirect to https:\/\/foreign.example\/login/, {
        after: (reply, { headers }) => reply.headers?.some(([, value]) => value.startsWith('/login')) === true
          ? redirect(`https://${headers['x-forwarded-host'] ?? 'localhost'}/login`)
          : reply
      }),
    'a user whom a proxy could name': mistake('?authorize.claimed-user', /^with the header X-User: /, {
      sessionOf: ({ headers }) => /\bsid=(\w+)/.exec(String(headers.cookie))?.[1] ??
        (headers['x-forwarded-email'] === undefined ? null : 'ada')
    }),
    'unknown parameters refused': mistake('!authorize.unknown-parameter', /an_unknown_parameter=x: 400/, {
      before: ({ path, query }) => path === '/oauth/authorize' && query.has('an_unknown_parameter')
        ? {
            status: 400,
            headers: [['Content-Type', 'application/json'], ['Content-Security-Policy',
              'frame-ancestors \'none\'']],
            body: '{"error":"invalid_request"}'
          }
        : null
    }),
    'a challenge refused': mistake('!authorize.unknown-parameter', /with a code_challenge/,
      { acceptsChallenge: (challenge) => challenge === null })
  },
  'values that are longer, or read by a parser': {
    'a redirect_uri up to a NUL': mistake('!authorize.redirect-uri-exact', /with a NUL and more at the end: /,
      { sameUri: (given, own) => given.split('\0')[0] === own }),
    'a redirect_uri at localhost': mistake('!authorize.redirect-uri-exact', /of a development server: /,
      atPortal((given, own) => given === own || given.startsWith('http://localhost:')), https),
    'a state as JSON': mistake('!authorize.state', /^1, for 1\.0$/, calledBack((parameters) => {
      try { parameters.set('state', String(JSON.parse(String(parameters.get('state'))))) } catch {}
    })),
    'a state of letters and digits only': mistake('?authorize.state', /^400 .*, for 1\.0$/,
      at('/oauth/authorize', ({ query }) => /^[\w-]*$/.test(query.get('state') ?? '')
        ? null
        : refusal(400, 'invalid_request', [['Content-Security-Policy', 'frame-ancestors \'none\'']]))),
    'a long code': mistake('?service.malformed', /^POST \/oauth\/token, 500$/,
      at('/oauth/token', ({ form }) => String(form.get('code')).length > 255 ? { status: 500 } : null)),
    'a long token': mistake('?service.malformed', /^GET \/oauth\/user, 500$/,
      at('/oauth/user', ({ headers }) => String(headers.authorization).length > 255 ? { status: 500 } : null)),
    'a content type as a whole text': mistake('?token.charset', /^400/, at('/oauth/token', ({ headers }) =>
      headers['content-type']?.includes('charset') === true ? refusal(400, 'invalid_request') : null)),
    'HTTP Basic, whatever the form says': mistake('?token.two-credentials', /^200/, {
      credentialsOf: (ask, form) =>
        credentials(ask, ask.headers.authorization === undefined ? form : new URLSearchParams())
    })
  },
  'what comes back': {
    'expires_in as text': mistake('?token.expires-in', /^expires_in: "60"$/,
      { tokenBody: (token) => ({ token_type: 'Bearer', access_token: token, expires_in: '60' }) }),
    'an expires_in of 0': mistake('?token.expires-in', /^expires_in: 0$/,
      { tokenBody: (token) => ({ token_type: 'Bearer', access_token: token, expires_in: 0 }) }),
    'invalid_grant for another grant_type': mistake('?token.error-codes', /^with another grant_type: 400/,
      at('/oauth/token', ({ form }) => form.get('grant_type') === 'password' ? refusal(400, 'invalid_grant') : null)),
    'another error for an unknown client': mistake('?token.error-codes', /^with an unknown client_id: 400/,
      at('/oauth/token', ({ form }) =>
        form.get('client_id') === 'nobody' ? refusal(400, 'unauthorized_client') : null)),
    'a challenge without error': mistake('?user.challenge', /^WWW-Authenticate: Bearer$/,
      replacing('/oauth/user', 'WWW-Authenticate', [['WWW-Authenticate', 'Bearer']])),
    'a login page in a frame': mistake('?login.framing', /^neither/,
      replacing('/login', 'Content-Security-Policy', [])),
    'the state in the page of another error': mistake('!authorize.no-injection', /: state, in a refusal$/,
      { errorPage: ({ query }) => query.get('client_id') === CLIENT_ID ? String(query.get('state')) : '' }),
    'a name that is escaped': mistake('?user.plain-text', /^the text &amp;$/,
      { record: ({ user }) => ({ ...RECORDS[user], name: 'Ada &amp; Grace' }) }),
    'a name that is not UTF-8': mistake('?user.plain-text', /^bytes that are not UTF-8$/,
      { record: ({ user }) => ({ ...RECORDS[user], name: 'Andr\ufffd' }) })
  },
  'another client': {
    'redeems the code': mistake('!token.other-client', /^200/, { sameOwner: () => true },
      { second: { clientId: SECOND.id, clientSecret: SECOND.secret } }),
    'names the portal in the form': mistake('!token.other-client', /^with Basic and client_id=[^:]*: 200/, {
      credentialsOf: (ask, form) => {
        const id = form.get('client_id')
        const own = credentials(ask, new URLSearchParams())
        if (id === null || own?.id !== SECOND.id || own.secret !== SECOND.secret) return credentials(ask, form)
        return { id, secret: CLIENT_SECRET }
      }
    }, { second: { clientId: SECOND.id, clientSecret: SECOND.secret } }),
    'lends its secret': mistake('!token.mixed-credentials !token.other-client', /^200/, {
      sameSecret: (given) => ['a secret/of+the portal:äé', SECOND.secret].includes(given), sameOwner: () => true
    }, { second: { clientId: SECOND.id, clientSecret: SECOND.secret } })
  },
  'the second try': {
    ...Object.fromEntries([2, 3, 4].map((times) => [`of a used code, if sent ${times} times`,
      mistake('!token.second-try', new RegExp(`a used code, sent ${times} times: 200`), {
        refusedCode: ({ codes, used, notes }, code) => {
          const grant = used.get(code)
          notes.set(code, (notes.get(code) ?? 1) + 1)
          if (grant !== undefined && notes.get(code) === times) codes.set(code, grant)
        }
      })])),
    'of a user who may not enter': mistake('!authorize.eligibility', /^at the second try: 302/, {
      before: (ask, { notes }) => {
        if (ask.user !== 'eve') return null
        notes.set('eve', (notes.get('eve') ?? 0) + 1)
        if (notes.get('eve') === 2) ask.user = 'ada'
        return null
      }
    }, { ineligible: 'sid=eve' }),
    'of a browser that has a session by now': mistake('!authorize.login-needed', /^at the second try: 302/, {
      sessionOf: ({ headers }) => /\bsid=(\w+)/.exec(String(headers.cookie))?.[1] ??
        (headers.cookie === undefined ? null : 'ada'),
      after: (reply) => ({ ...reply, headers: [...reply.headers ?? [], ['Set-Cookie', 'guest=1; Path=/']] })
    }),
    'of a wrong verifier': mistake('!token.second-try', /a wrong code_verifier, sent 2 times: 200/,
      {
        failedProof: (_memory, _code, grant) => { grant.challenge = null; Object.assign(grant, { method: 'skip' }) },
        verified: ({ challenge, method }, verifier) => method === 'skip' ||
          (verifier === null ? challenge === null : challenge === s256(verifier))
      }),
    'of the right verifier after a wrong one': mistake('?token.failed-proof', /right verifier after a wrong one/,
      { failedProof: () => {} }),
    'a token alive after a replay': mistake('?token.replay-revokes', /the record/, { refusedCode: () => {} }),
    'a used token in another spelling': mistake('!user.respelt-token', /^a used token with = at the end: 200/,
      (() => {
        const used = new Set<string>()
        const live = new Map<string, Grant>()
        return {
          newToken: (_memory: Memory, grant: Grant) => { const token = random(); live.set(token, grant); return token },
          findToken: (_tokens: Map<string, Grant>, given: string) => {
            const grant = used.has(given) ? undefined : live.get(Buffer.from(given, 'base64url').toString('base64url'))
            if (grant !== undefined) used.add(given)
            return grant === undefined ? undefined : { ...grant, expires: Infinity }
          }
        }
      })())
  },
  lifetimes: {
    'a code that never expires': mistake('!token.code-lifetime', /^200/, { findCode: eternal }, { codeLifetime: 60 }),
    'a code that never expires, with time enough': mistake('!token.code-lifetime', /^200/, { findCode: eternal },
      { deadline: 3600 }),
    'a token that never expires': mistake('!user.token-lifetime', /^200/, { findToken: eternal },
      { tokenLifetime: 60 })
  },
  'where a parameter comes out again': {
    ...Object.fromEntries(['client_id', 'redirect_uri', 'response_type', 'state', 'scope',
      'code_challenge'].map((name) =>
      [`the error page: ${name}`, mistake('!authorize.no-injection', new RegExp(`script from the request: ${name}`), {
        ...echo(name, (text) => `<p>${text}</p>`),
        sameUri: (given, own) => given === own,
        isType: (type) => type === 'code',
        ...['response_type', 'state', 'scope', 'code_challenge'].includes(name)
          ? {
              after: (reply, { query, path }) => path === '/oauth/authorize' && /</.test(String(query.get(name)))
                ? {
                    status: 400,
                    headers: [['Content-Type', 'text/html'], ['X-Frame-Options', 'DENY']],
                    body: `<p>${query.get(name)}</p>`
                  }
                : reply
            }
          : {}
      })])),
    'an attribute': mistake('!authorize.no-injection', /ends an attribute: client_id/,
      echo('client_id',
        (text) => `<input type=hidden value="${text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}">`)),
    'an address': mistake('!authorize.no-injection', /script as an address: redirect_uri/,
      echo('redirect_uri', (text) => `<a href="${text.replace(/[&<>"']/g, '')}">Back</a>`)),
    'the login page': mistake('!authorize.no-injection', /state, at the login/, {
      loginPage: ({ query }) => `<form method=post><input type=hidden value="${query.get('state')}"></form>`,
      after: (reply, { path, query, user }) => path === '/oauth/authorize' && reply.status === 302 && user === null
        ? { ...reply, headers: [['Location', `/login?state=${encodeURIComponent(String(query.get('state')))}`]] }
        : reply
    }),
    'an error page of the token endpoint': mistake('!token.no-injection', /grant_type/, {
      after: (reply, { path, form }) => path === '/oauth/token' && /</.test(String(form.get('grant_type')))
        ? {
            status: 400,
            headers: [['Content-Type', 'text/html'], ['Cache-Control', 'no-store']],
            body: `<p>${form.get('grant_type')}</p>`
          }
        : reply
    })
  },
  'what is seen on the way': {
    'a quote in error_description': mistake('!service.error-characters', /POST \/oauth\/token, 401: /,
      { description: 'The "code" is wrong.' }),
    'letters beyond ASCII': mistake('!service.error-characters', /Ung/, { description: 'Ungültig.' }),
    'the expected secret': mistake('!service.secret-shown', /POST \/oauth\/token, 401/, {
      after: (reply, { path }) => path === '/oauth/token' && reply.status === 401
        ? {
            ...reply,
            body: JSON.stringify({
              error: 'invalid_client',
              error_description: 'Not the secret.',
              expected: 'a secret/of+the portal:äé'
            })
          }
        : reply
    }),
    ...Object.fromEntries([400, 401].map((status) =>
      [`refusals with ${status} that are cached`, mistake('?service.refusal-no-store', /no Cache-Control/, {
        after: (reply, { path }) => path === '/oauth/token' && reply.status === status
          ? { ...reply, headers: (reply.headers ?? []).filter(([name]) => name !== 'Cache-Control') }
          : reply
      })])),
    'a token in a cookie': mistake('?service.token-shown', /^POST \/oauth\/token, 200: the token is in a header/, {
      after: (reply) => {
        const token = /"access_token":"([^"]+)"/.exec(String(reply.body))?.[1]
        return token === undefined
          ? reply
          : { ...reply, headers: [...reply.headers ?? [], ['Set-Cookie', `token=${token}`]] }
      }
    }),
    'the name of the user in the redirect': mistake('?authorize.callback-parameters', /also user/,
      { callback: ({ user }) => ({ user }) })
  },
  PKCE: {
    'no verifier is needed': mistake('!token.pkce', /^200/,
      { verified: ({ challenge }, verifier) => verifier === null || challenge === s256(verifier) }, { pkce: true }),
    'a verifier that was not asked for': mistake('!token.unasked-verifier', /^200/,
      { verified: ({ challenge }, verifier) => challenge === null || challenge === s256(String(verifier)) },
      { pkce: true }),
    plain: mistake('!token.plain-challenge', /^200/, {
      acceptsChallenge: () => true,
      verified: ({ challenge, method },
        verifier) => challenge === (verifier === null || method !== 'S256' ? verifier : s256(verifier))
    }, { pkce: true }),
    'the challenge as its own verifier': mistake('!token.challenge-as-verifier', /^200/, {
      verified: ({ challenge }, verifier) => verifier === null
        ? challenge === null
        : [verifier,
            s256(verifier)].includes(String(challenge))
    }, { pkce: true }),
    'a trimmed verifier': mistake('!token.verifier-exact', /^code_verifier with a space in front: 200/, {
      verified: ({ challenge },
        verifier) => verifier === null ? challenge === null : challenge === s256(verifier.trim())
    }, { pkce: true })
  }
}

/** Rules that send what is seen on the way. */
const NEEDED = ['token.unknown-code', 'token.wrong-secret', 'token.no-store', 'user.record']

for (const [family, mistakes] of Object.entries(FAMILIES)) {
  await t.test(family, async (t) => {
    for (const [name, { parts, fails, got, trial }] of Object.entries(mistakes)) {
      const ids = fails.map((id) => id.slice(1))
      const { findings, stopped } = await tried([...ids, ...NEEDED], {
        cookie: 'sid=ada; SameSite=Lax',
        parts,
        ...trial
      })
      t.strictSame(failedRules(findings).sort(), [...fails].sort(), name)
      t.equal(stopped, undefined, name)
      const finding = findings.find(({ rule: { id } }) => id === ids[0])
      t.match(finding?.result, { got }, name)
    }
  })
}
